package ui

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples of CONTRIBUTING.md compile in the files and at the lines that they name, and the help shows the new view.
func TestExamplesOfContributing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	root, err := filepath.Abs("..")
	must(t, err)
	doc, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	must(t, err)
	examples := regexp.MustCompile("(?s)<!-- example: (\\S+)(?: (after|before) ([^\n]*?))? -->\n```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(examples) < 13 {
		t.Fatalf("%d examples", len(examples))
	}
	files := map[string]string{} // the changed files
	for _, x := range examples {
		path, place, anchor, code := filepath.Join(root, x[1]), x[2], x[3], x[4]
		text := files[path]
		if text == "" && place != "" {
			old, err := os.ReadFile(path)
			must(t, err)
			text = string(old)
		}
		at := strings.Index(text, anchor)
		switch {
		case place == "":
			files[path] = code
			continue
		case at < 0 || strings.Count(text, anchor) != 1:
			t.Fatalf("%s: %q is not there once", x[1], anchor)
		case place == "after":
			at += strings.Index(text[at:], "\n") + 1
		}
		files[path] = text[:at] + code + text[at:]
	}
	replace := map[string]string{}
	for path, text := range files {
		changed := filepath.Join(t.TempDir(), filepath.Base(path))
		must(t, os.WriteFile(changed, []byte(text), 0o600))
		replace[path] = changed
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	list := filepath.Join(t.TempDir(), "overlay.json")
	must(t, os.WriteFile(list, overlay, 0o600))
	for _, args := range [][]string{{"build"}, {"test", "-vet=off", "-run", "^TestNoTextOfTheHelpIsCut$", "./ui/pages"}} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{args[0], "-overlay", list}, args[1:]...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
