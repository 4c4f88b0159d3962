package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"electop/internal/consultest"
)

// This test runs the whole benchmark with the fewest elections. Every watcher must report changes.
func TestBench(t *testing.T) {
	consultest.Binary(t)
	dir := t.TempDir()
	build(t, dir, "bench", ".")
	build(t, dir, "electop", "../..")
	document := filepath.Join(dir, "performance.md")
	cmd := exec.Command(filepath.Join(dir, "bench"), "-sizes", "20", "-for", "1s", "-rate", "20", "-idle-changes", "3",
		"-dashboard=false", "-watchers", strings.Join(watcherNames(), ","), "-electop", filepath.Join(dir, "electop"), "-markdown", document)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	for _, name := range watcherNames() { // a slow watcher may report two writes of a key as one change
		if row := rowOf(out.String(), name); !strings.Contains(row, "/20 ") || strings.Contains(row, " 0/20 ") {
			t.Errorf("%s: want 20 writes, and at least one of them reported:\n%s", name, out.String())
		}
	}
	text, err := os.ReadFile(document)
	if err != nil || !strings.Contains(string(text), "| electop") {
		t.Errorf("the document is %q, error %v; want a table with electop", text, err)
	}
}

func build(t *testing.T, dir, name, pkg string) {
	t.Helper()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
}

func rowOf(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+" ") {
			return line
		}
	}
	return ""
}
