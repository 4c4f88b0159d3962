package main

import (
	"io"
	"slices"
	"testing"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-sizes", "5, 100", "-watchers", "electop,perkey", "-rate", "20", "-for", "3s"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.sizes, []int{5, 100}) || !slices.Equal(o.watchers, []string{"electop", "perkey"}) || o.changes() != 60 {
		t.Errorf("got %+v", o)
	}
}

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
