package main

import "testing"

func TestModel(t *testing.T) {
	const text = "processor\t: 0\nmodel name\t: Some CPU: fast\n\nprocessor\t: 1\nmodel name\t: Some CPU: fast\n"
	if got := modelIn(text); got != "Some CPU: fast" {
		t.Errorf("got %q", got)
	}
	if got := modelIn(""); got != "unknown CPU" {
		t.Errorf("got %q", got)
	}
}
