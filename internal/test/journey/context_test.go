package journey

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"electop/internal/consultest"
)

func TestContextsAreSwitchedInTheDashboard(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	proxy := consultest.StartProxy(t, s.Addr, nil)
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "keys: {help: f1}\ncontexts:\n" +
		"  first: {http-addr: " + proxy.Addr() + ", key: " + s.prefix + "/*/leader, history: off}\n" +
		"  second: {http-addr: " + s.Addr + ", key: " + s.prefix + "-none/*/leader, history: off}\n"
	must(t, os.WriteFile(config, []byte(text), 0o600))
	term := open(t, 120, 36, nil, program, "--config", config, "--context", "first,second", "--theme", "contrast")
	term.await("electop  first,second", "● first", "● second", "web-a", "f1 help")
	term.keys(":", "ctx second", "Enter")
	screen := term.await("electop  second", "f1 help")
	if strings.Contains(screen, "web-a") {
		t.Errorf("an election of the other context is shown:\n%s", screen)
	}
	if !poll(func() bool { return proxy.Conns() == 0 }) {
		t.Errorf("%d connections of the first context are open", proxy.Conns())
	}
	term.keys(":", "ctx first", "Enter")
	term.await("electop  first", "web-a")
	term.keys("q")
	term.await("left with 0")
}
