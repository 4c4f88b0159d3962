package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"electop/internal/consultest"
)

func TestPagesRenderWithoutWarnings(t *testing.T) {
	groff := consultest.Program(t, "groff", "Debian: apt-get install groff")
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	text := map[string]string{}
	for _, path := range pages {
		cmd := exec.CommandContext(t.Context(), groff, "-ww", "-man", "-t", "-Kutf8", "-Tutf8", "-P-c", "-P-b", "-P-u", path)
		var out, warnings strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &warnings
		if err := cmd.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v %s", filepath.Base(path), err, warnings.String())
		}
		text[strings.TrimSuffix(filepath.Base(path), ".1")] = out.String()
	}
	if !strings.Contains(text["electop"], "  0  success\n") {
		t.Errorf("a table is not verbatim:\n%s", text["electop"])
	}
	for page, want := range map[string][]string{
		"electop":            {"service/*/leader", "--key"},
		"electop-list":       {"OPTIONS INHERITED", "* matches one segment", "** any number"},
		"electop-connection": {"CONSUL_HTTP_TOKEN_FILE"},
		"electop-watch":      {"ELECTOP_VACANCY_MS"},
	} {
		for _, part := range want {
			if !strings.Contains(strings.Join(strings.Fields(text[page]), " "), part) {
				t.Errorf("%s lacks %q:\n%s", page, part, text[page])
			}
		}
	}
}
