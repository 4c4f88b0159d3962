package journey

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestContextsAreSwitchedInTheDashboard(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.agent.Addr()}))
	var connections atomic.Int64
	proxy.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			connections.Add(1)
		case http.StateClosed:
			connections.Add(-1)
		default:
		}
	}
	proxy.Start()
	defer proxy.Close()
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "keys: {help: f1}\ncontexts:\n" +
		"  first: {http-addr: " + proxy.URL + ", key: " + s.prefix + "/*/leader, history: off}\n" +
		"  second: {http-addr: " + s.agent.Addr() + ", key: " + s.prefix + "-none/*/leader, history: off}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	term := open(t, 120, 36, nil, program, "--config", config, "--context", "first,second", "--theme", "contrast")
	term.await("electop  first,second", "● first", "● second", "web-a", "f1 help")
	term.keys(":", "ctx second", "Enter")
	screen := term.await("electop  second", "f1 help")
	if strings.Contains(screen, "web-a") {
		t.Errorf("an election of the other context is shown:\n%s", screen)
	}
	if !poll(func() bool { return connections.Load() == 0 }) {
		t.Errorf("%d connections of the first context are open", connections.Load())
	}
	term.keys(":", "ctx first", "Enter")
	term.await("electop  first", "web-a")
	term.keys("q")
	term.await("left with 0")
}
