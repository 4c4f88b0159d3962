package faults

import (
	"context"
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"electop/internal/consultest"
)

// proxied returns a fault that the proxy injects for some time.
func proxied(name string, lasts time.Duration, f consultest.Fault) fault {
	return fault{
		name: name, lasts: lasts,
		begin: func(s *stage) { s.proxy.Set(f) },
		end:   func(s *stage) { s.proxy.Set(consultest.Fault{}) },
	}
}

func quick(f fault) fault {
	f.quick = true
	return f
}

func nothing(*stage) {}

// In each of these faults, the network or a proxy fails, but Consul continues to run.
func TestNetworkFaults(t *testing.T) {
	cut := proxied("a proxy cuts queries after 30 s", 70*time.Second, consultest.Fault{CutAfter: 30 * time.Second})
	cut.silent = true
	cutEarly := proxied("a proxy cuts queries after 5 s", 16*time.Second, consultest.Fault{CutAfter: 5 * time.Second})
	cutEarly.silent = true
	late := proxied("latency of 2 s", 10*time.Second, consultest.Fault{Latency: 2 * time.Second})
	late.silent = true
	trickle := proxied("responses to blocked queries trickle", 32*time.Second, consultest.Fault{Trickle: time.Second, Only: consultest.Blocking})
	trickle.silent, trickle.reports = true, true
	faults := []fault{
		trickle, hungTransactions(),
		quick(proxied("black hole", 6*time.Second, consultest.Fault{Silent: true})),
		quick(fault{name: "half-open connections", begin: func(s *stage) { s.proxy.Freeze() }, end: nothing, lasts: 10 * time.Second, silent: true}),
		{name: "half-open connections of blocked queries", begin: freezeBlocked, end: nothing, lasts: 32 * time.Second, silent: true, reports: true},
		{name: "half-open connections of blocked queries, HTTP/2", at: http2, begin: freezeBlocked, end: nothing,
			lasts: 32 * time.Second, silent: true, reports: true},
		resetStorm(),
		late, cut, cutEarly,
		proxied("truncated bodies", 6*time.Second, consultest.Fault{Alter: truncate}),
		quick(proxied("corrupt bodies", 6*time.Second, consultest.Fault{Alter: corrupt})),
	}
	for _, r := range foreignResponses() {
		f := proxied("response "+r.name, 6*time.Second, consultest.Fault{Respond: r.handler})
		f.quick = r.name == "200 []"
		faults = append(faults, f)
	}
	for _, f := range faults {
		t.Run(f.name, f.play)
	}
}

// freezeBlocked makes the connections silent on which the dashboard and watch wait for a change of web.
func freezeBlocked(s *stage) {
	if !consultest.Poll(patience, func() bool { return s.proxy.FreezeBlocked() >= 2 }) {
		s.t.Fatalf("no blocking queries within %v", patience)
	}
}

// hungTransactions deletes a key while no transaction gets a response, so that electop cannot confirm that the key no
// longer exists.
func hungTransactions() fault {
	f := proxied("transactions hang", 10*time.Second, consultest.Fault{
		Latency: time.Hour, Only: func(r *http.Request) bool { return r.URL.Path == "/v1/txn" },
	})
	begin := f.begin
	f.begin = func(s *stage) {
		begin(s)
		ctx := context.Background()
		for k := s.writer.keys[0]; k.pair != nil; {
			if k.doubtful {
				s.writer.reconcile(ctx, k)
			} else {
				s.writer.remove(ctx, k)
			}
		}
		s.leads("")
	}
	f.still = true
	return f
}

// http2 returns an environment with a proxy that serves HTTP/2, so that all queries share one connection.
func http2(t *testing.T) setting {
	c := consultest.NewCertificates(t, "consul")
	return serves(t, c, &tls.Config{Certificates: []tls.Certificate{*c.Issue(t, "consul")}, NextProtos: []string{"h2"}})
}

// resetStorm resets every connection 50 times per second.
func resetStorm() fault {
	stop := func(*stage) {}
	return fault{
		name: "connections reset repeatedly", lasts: 6 * time.Second,
		begin: func(s *stage) {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				tick := time.NewTicker(20 * time.Millisecond)
				defer tick.Stop()
				for ctx.Err() == nil {
					s.proxy.Reset()
					<-tick.C
				}
			}()
			stop = func(*stage) { cancel(); <-done }
			s.t.Cleanup(func() { cancel(); <-done })
		},
		end: func(s *stage) { stop(s) },
	}
}

// foreignResponse is a response that Consul did not send.
type foreignResponse struct {
	name    string
	handler http.HandlerFunc
}

func foreignResponses() []foreignResponse {
	const page = "<html><head><title>Sign in</title></head><body>Please sign in</body></html>"
	return []foreignResponse{
		{"200 empty", consultest.Reply(http.StatusOK, "application/json", "")},
		{"200 []", consultest.Reply(http.StatusOK, "application/json", "[]")},
		{"200 HTML", consultest.Reply(http.StatusOK, "text/html", page)},
		{"404", consultest.Reply(http.StatusNotFound, "text/plain", "404 page not found")},
		{"429", consultest.Reply(http.StatusTooManyRequests, "text/plain", "Too Many Requests")},
		{"500", consultest.Reply(http.StatusInternalServerError, "text/plain", "internal error")},
		{"502", consultest.Reply(http.StatusBadGateway, "text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>")},
	}
}

func truncate(body []byte) []byte { return body[:len(body)/2] }

// corrupt changes the first byte and some other bytes.
func corrupt(body []byte) []byte {
	for i := 0; i < len(body); i += 7 {
		body[i] ^= 0x55
	}
	return body
}
