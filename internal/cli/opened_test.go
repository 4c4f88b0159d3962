package cli

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// counted returns the address of a proxy for the agent, and the number of its open connections.
func (w *testConsul) counted() (addr string, open *atomic.Int64) {
	proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.addr}))
	open = &atomic.Int64{}
	proxy.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		default:
		}
	}
	proxy.Start()
	w.t.Cleanup(proxy.Close)
	return strings.TrimPrefix(proxy.URL, "http://"), open
}

// A command closes its connections even if it fails: an agent limits the connections of a client.
func TestCommandsCloseTheirConnections(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(nil), "web-1")
	for _, args := range []string{
		"list", "list --datacenter all", "show web", "show nothing", "doctor", "discover", "discover missing/", "wait web", "wait nothing",
		"release nothing --yes", "release web mail --yes", "destroy nothing --yes", "drain nothing --yes", "rescue", "watch nothing",
		"__complete show w", "__complete list --datacenter d", "__complete drain n",
	} {
		t.Run(args, func(t *testing.T) {
			addr, open := w.counted()
			w.runWith(deps{stdin: strings.NewReader("")}, append(strings.Fields(args), "--http-addr", addr)...)
			for limit := time.Now().Add(patience); open.Load() > 0; {
				if time.Now().After(limit) {
					t.Fatalf("%d connections are open", open.Load())
				}
			}
		})
	}
}

func TestSecretsOfACommand(t *testing.T) {
	const token, historyToken = "5ec2e7aa-0000-4000-8000-abadcafe0001", "history-5ec2e7bb"
	t.Setenv(historyTokenEnv, historyToken+"\n")
	o := &options{history: "https://127.0.0.1:1"}
	o.consul.Token = token
	if _, err := o.opened.client(o.consul); err != nil {
		t.Fatal(err)
	}
	if _, err := o.historyClient(); err != nil {
		t.Fatal(err)
	}
	if got := o.opened.redact("a " + token + " b " + historyToken + " c"); got != "a <hidden> b <hidden> c" {
		t.Error(got)
	}
}
