package main

import (
	"io"
	"testing"
)

func TestOptionsAreBounded(t *testing.T) {
	for _, args := range [][]string{
		{"-sizes", "0"}, {"-sizes", "many"}, {"-sizes", "2000000"}, {"-rate", "0"}, {"-rate", "1e9"}, {"-for", "1h"},
		{"-idle-changes", "-1"}, {"-watchers", "nobody"}, {"-quiet", "0s"}, {"-moves", "-2"}, {"-flaps", "0"}, {"stray"},
	} {
		if _, err := parseOptions(args, io.Discard); err == nil {
			t.Errorf("%v was accepted, want an error", args)
		}
	}
}
