package faults

import (
	"context"
	"testing"
	"time"

	"electop/internal/consultest"
)

// proxied is a fault that the proxy injects for some time.
func proxied(name string, lasts time.Duration, f consultest.Fault) fault {
	return fault{
		name: name, lasts: lasts,
		begin: func(s *stage) { s.proxy.Set(f) },
		end:   func(s *stage) { s.proxy.Set(consultest.Fault{}) },
	}
}

func nothing(*stage) {}

// In each of these faults, the network or a proxy fails, but Consul keeps running.
func TestNetworkFaults(t *testing.T) {
	cut := proxied("a proxy cuts queries after 30 s", 70*time.Second, consultest.Fault{CutAfter: 30 * time.Second})
	cut.silent, cut.long = true, true
	cutEarly := proxied("a proxy cuts queries after 5 s", 16*time.Second, consultest.Fault{CutAfter: 5 * time.Second})
	cutEarly.silent = true
	late := proxied("latency of 2 s", 10*time.Second, consultest.Fault{Latency: 2 * time.Second})
	late.silent = true
	faults := []fault{
		proxied("black hole", 10*time.Second, consultest.Fault{Silent: true}),
		{name: "half-open connections", begin: func(s *stage) { s.proxy.Freeze() }, end: nothing, lasts: 10 * time.Second, silent: true},
		{name: "half-open connections of blocked queries", begin: func(s *stage) { s.proxy.FreezeBlocked() }, end: nothing, lasts: 32 * time.Second, silent: true},
		resetStorm(),
		late, cut, cutEarly,
		proxied("truncated bodies", 6*time.Second, consultest.Fault{Alter: truncate}),
		proxied("corrupt bodies", 6*time.Second, consultest.Fault{Alter: corrupt}),
	}
	for _, r := range foreignResponses() {
		faults = append(faults, proxied("response "+r.name, 6*time.Second, consultest.Fault{Respond: r.handler}))
	}
	for _, f := range faults {
		t.Run(f.name, f.play)
	}
}

// resetStorm resets every connection ten times a second.
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
