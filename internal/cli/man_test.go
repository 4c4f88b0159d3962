package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"electop/internal/consultest"
	"electop/internal/manpage"
)

func TestEachCommandHasAManPageWithItsFlags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	w := onMemory(t)
	w.run("man", dir).must(t, exitOK)
	root := newRootCommand(deps{}, new(options))
	root.InitDefaultCompletionCmd()
	commands := manpage.Commands(root)
	for _, cmd := range commands {
		page := readMan(t, filepath.Join(dir, manpage.Name(cmd)))
		has(t, page, ".SH NAME\n", ".SH DESCRIPTION\n")
		cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			has(t, page, `\fB\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)+`\fR`)
		})
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(commands) {
		t.Errorf("%d manual pages for %d commands, error %v", len(files), len(commands), err)
	}
	if page := readMan(t, filepath.Join(dir, "electop.1")); w.run("man").must(t, exitOK).out != page {
		t.Error("man without DIR does not print the page of electop")
	}
	w.run("man", "a", "b").must(t, exitUsage)
}

func readMan(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestManPagesRenderWithoutWarnings(t *testing.T) {
	groff := consultest.Program(t, "groff", "Debian: apt-get install groff")
	dir := t.TempDir()
	onMemory(t).run("man", dir).must(t, exitOK)
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, path := range pages {
		cmd := exec.CommandContext(t.Context(), groff, "-ww", "-man", "-Kutf8", "-Tutf8", "-P-c", "-P-b", "-P-u", path)
		var out, warnings strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &warnings
		if err := cmd.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v %s", filepath.Base(path), err, warnings.String())
		}
		has(t, out.String(), "NAME", "DESCRIPTION")
	}
}
