package journey

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContextsAreSwitchedInTheDashboard(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "keys: {help: f1}\ncontexts:\n" +
		"  first: {http-addr: " + s.agent.Addr() + ", key: " + s.prefix + "/*/leader, history: off}\n" +
		"  second: {http-addr: " + s.agent.Addr() + ", key: " + s.prefix + "-none/*/leader, history: off}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	term := open(t, 120, 36, nil, program, "--config", config, "--context", "first", "--theme", "contrast")
	term.await("electop  first", "web-a", "f1 help")
	term.keys(":", "ctx second", "Enter")
	screen := term.await("electop  second", "f1 help")
	if strings.Contains(screen, "web-a") {
		t.Errorf("an election of the other context is shown:\n%s", screen)
	}
	term.keys(":", "ctx first", "Enter")
	term.await("electop  first", "web-a")
	term.keys("q")
	term.await("left with 0")
}
