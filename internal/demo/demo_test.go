package demo

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"electop/consulx"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

var must = consultest.Must

func TestMain(m *testing.M) { goleak.VerifyTestMain(consultest.Wrap(m)) }

const patience = 2 * time.Minute

// play runs a demonstration until the reported lines satisfy a condition.
func play(t *testing.T, addr string, o Options, until func(lines []string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client, err := consulx.NewClient(consulx.Config{Address: addr, MaxConnections: 150})
	must(t, err)
	defer client.Close()
	o.Client = client
	told := make(chan string, 1000)
	o.Report = func(line string) { told <- line }
	done := make(chan error, 1)
	go func() { done <- Run(ctx, o) }()
	var lines []string
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !until(lines) {
		select {
		case <-again.C:
		case line := <-told:
			lines = append(lines, line)
		case err := <-done:
			t.Fatalf("the demonstration ended early: %v; reported lines: %q", err, lines)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, line := range lines {
		if strings.Contains(line, "cannot simulate") {
			t.Error(line)
		}
	}
}

func client(t *testing.T, addr string) *api.Client {
	t.Helper()
	conf := api.DefaultNonPooledConfig()
	conf.Address = addr
	c, err := api.NewClient(conf)
	must(t, err)
	return c
}

func TestEveryFailureOccurs(t *testing.T) {
	if testing.Short() {
		t.Skip("slow; skipped with -short")
	}
	server, err := memconsul.Start(memconsul.Config{})
	must(t, err)
	defer server.Close()
	o := Options{Services: 4, Candidates: 2, Seed: 3, Every: 500 * time.Millisecond}
	wanted := []string{"becomes critical", "steps down", "without the lock", "crashes", "is removed", "changes to warning"}
	play(t, server.Addr(), o, func(lines []string) bool {
		all := strings.Join(lines, "\n")
		for _, w := range wanted {
			if !strings.Contains(all, w) {
				return false
			}
		}
		return true
	})
}

func TestInvalidOptionsAreErrors(t *testing.T) {
	good := Options{Services: 8, Candidates: 3, Every: time.Second}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Services = 0 }, func(o *Options) { o.Candidates = 0 },
		func(o *Options) { o.Services = 100 }, func(o *Options) { o.Every = 0 },
	} {
		bad := good
		change(&bad)
		if bad.Validate() == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// The dashboard selects the first election that it observes: it must be the first row.
func TestTheFirstElectionIsLedFirst(t *testing.T) {
	server, err := memconsul.Start(memconsul.Config{})
	must(t, err)
	defer server.Close()
	kv := client(t, server.Addr()).KV()
	o := Options{Services: 6, Candidates: 2, Every: time.Hour}
	play(t, server.Addr(), o, func([]string) bool {
		pairs, _, err := kv.List("service/", nil)
		must(t, err)
		if len(pairs) == 0 {
			return false
		}
		first := slices.MinFunc(pairs, func(a, b *api.KVPair) int { return cmp.Compare(a.CreateIndex, b.CreateIndex) })
		if first.Key != "service/auth/leader" {
			t.Errorf("the first key is %s", first.Key)
		}
		return len(pairs) == 7
	})
}
