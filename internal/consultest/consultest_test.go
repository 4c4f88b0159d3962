package consultest

import (
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(Wrap(m)) }

func TestSharedIsOneAgent(t *testing.T) {
	a, b := Shared(t), Shared(t)
	if a != b {
		t.Fatal("two calls of Shared returned two agents")
	}
	if strings.HasSuffix(a.Addr(), ":8500") {
		t.Fatalf("the shared agent listens on %s", a.Addr())
	}
}

func TestServerKeepsDataOverRestartAndKill(t *testing.T) {
	a := Server(t, WithNode("keeper"), WithDatacenter("dc9"))
	put(t, a, "kept", "1")
	for _, end := range []func() error{a.Stop, a.Kill} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Client().Status().Leader(); err == nil {
			t.Fatal("the agent still responds after it was stopped")
		}
		addr := a.Addr()
		if err := a.Restart(); err != nil {
			t.Fatal(err)
		}
		if a.Addr() != addr {
			t.Fatalf("the address changed from %s to %s", addr, a.Addr())
		}
		if got := get(t, a, "kept"); got != "1" {
			t.Fatalf("after the restart, the value of the key is %q", got)
		}
	}
	self, err := a.Client().Agent().Self()
	if err != nil {
		t.Fatal(err)
	}
	if self["Config"]["NodeName"] != "keeper" || self["Config"]["Datacenter"] != "dc9" {
		t.Fatalf("the agent has the configuration %v", self["Config"])
	}
}

func TestStartServer(t *testing.T) {
	if Binary(t) == "" {
		t.Fatal("no binary")
	}
	a, err := StartServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if a.PID() == 0 {
		t.Error("PID is 0 while the agent runs")
	}
	put(t, a, "kept", "1")
	if err := a.Kill(); err != nil {
		t.Fatal(err)
	}
	if a.PID() != 0 {
		t.Error("PID is not 0 after Kill")
	}
}

func TestClusterSurvivesTheLossOfOneServer(t *testing.T) {
	agents := Cluster(t, 3)
	put(t, agents[0], "kept", "1")
	if err := agents[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if err := agents[1].WaitReady(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, agents[1], "kept"); got != "1" {
		t.Fatalf("the remaining servers returned the value %q", got)
	}
}

func TestACLDeniesWithoutToken(t *testing.T) {
	a := Dev(t, WithACL())
	put(t, a, "secret", "1")
	_, _, err := a.Client().KV().Get("secret", &api.QueryOptions{Token: "anonymous"})
	if err == nil || !strings.Contains(err.Error(), "Permission denied") {
		t.Fatalf("a read with the anonymous token returned %v", err)
	}
}

func TestStartFailureShowsTheLog(t *testing.T) {
	_, err := startAll(Binary(t), t.TempDir(), kind{dev: true, servers: 1},
		newSettings([]Option{WithConfig(`no_such_setting = true`)}))
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Fatalf("the error does not contain the reason: %v", err)
	}
}

func TestMissingBinaryErrorNamesMakeConsul(t *testing.T) {
	t.Setenv(BinaryEnv, "/nowhere/consul")
	_, err := findBinary()
	if err == nil || !strings.Contains(err.Error(), "make consul") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v", err)
	}
}

func put(t *testing.T, a *Agent, key, value string) {
	t.Helper()
	if _, err := a.Client().KV().Put(&api.KVPair{Key: key, Value: []byte(value)}, nil); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, a *Agent, key string) string {
	t.Helper()
	pair, _, err := a.Client().KV().Get(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if pair == nil {
		return ""
	}
	return string(pair.Value)
}
