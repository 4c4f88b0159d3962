package main

import (
	"testing"
	"time"
)

func TestKeysOfAScreen(t *testing.T) {
	p, err := openScreen(t.Context(), []string{"sh", "-c", "stty raw -echo; printf '\\033[1mfirst\\033[0m line'; exec cat"}, t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	defer p.close()
	if took, err := p.await("first line"); err != nil || took <= 0 {
		t.Fatal(took, err)
	}
	all, err := p.pressKeys(t.Context(), 3)
	if err != nil || len(all) != 3 || all[0] <= 0 || all[0] > time.Minute {
		t.Errorf("%v %v", all, err)
	}
}
