package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// documented returns the first code block of a language in docs/recording.md.
func documented(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/recording.md")
	must(t, err)
	_, rest, found := strings.Cut(string(text), "\n```"+language+"\n")
	block, _, ended := strings.Cut(rest, "\n```")
	if !found || !ended {
		t.Fatalf("no %s block in docs/recording.md", language)
	}
	return block + "\n"
}

// The command line of the unit has existing flags, and record accepts them.
func TestTheUnitsCommandLine(t *testing.T) {
	unit := documented(t, "ini")
	_, line, _ := strings.Cut(unit, "\nExecStart=")
	line, _, _ = strings.Cut(strings.ReplaceAll(line, "\\\n", ""), "\n")
	folder := t.TempDir()
	args := strings.Fields(strings.ReplaceAll(line, "${CREDENTIALS_DIRECTORY}", folder))
	if args[0] != "/usr/local/bin/electop" || args[1] != "record" {
		t.Fatalf("%q", args)
	}
	// The flags are parsed in their order, so --help succeeds only if all flags before it exist.
	r := newTestConsul(t, "127.0.0.1:1").run(append(args[1:], "--help")...).must(exitOK)
	r.has("--bearer-token-file")
	for _, m := range regexp.MustCompile(`LoadCredential=([^:]+):`).FindAllStringSubmatch(unit, -1) {
		if !strings.Contains(line, "${CREDENTIALS_DIRECTORY}/"+m[1]) {
			t.Errorf("the command line does not use the credential %s", m[1])
		}
	}
}

func TestDefaultHistory(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	for _, tt := range []struct{ state, cluster, want string }{
		{"/state", "dc1", "/state/electop/dc1.db"},
		{"/state", "https://consul.example/v1", "/state/electop/https:%2F%2Fconsul.example%2Fv1.db"},
		{"/state", "../../etc", "/state/electop/..%2F..%2Fetc.db"},
		{"relative", "dc1", "/home/ana/.local/state/electop/dc1.db"},
	} {
		t.Setenv("XDG_STATE_HOME", tt.state)
		if got, err := defaultFile(tt.cluster); err != nil || got != tt.want {
			t.Errorf("%+v: %s, %v", tt, got, err)
		}
	}
}
