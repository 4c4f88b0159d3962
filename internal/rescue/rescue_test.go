package rescue_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/memconsul"
	"electop/internal/rescue"
)

// The evidence refuses the destroy until it is complete.
func TestTheEvidenceNeedsTime(t *testing.T) {
	server, err := memconsul.Start(memconsul.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := consulx.NewClient(consulx.Config{Address: server.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	node := &api.CatalogRegistration{Node: "node-9", Address: "10.0.0.9", Check: &api.AgentCheck{Node: "node-9", CheckID: "serfHealth", Status: "critical"}}
	if _, err := client.API().Catalog().Register(node, nil); err != nil {
		t.Fatal(err)
	}
	s, _, err := client.API().Session().CreateNoChecks(&api.SessionEntry{Node: "node-9"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ok, _, err := client.API().KV().Acquire(&api.KVPair{Key: "leader", Session: s}, nil); err != nil || !ok {
		t.Fatal(ok, err)
	}
	ps, err := election.ParsePatterns([]string{"leader"})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := observe.Once(t.Context(), client, ps)
	if err != nil {
		t.Fatal(err)
	}
	in := rescue.Inspector{Client: client, Elections: snapshot.Elections, Now: time.Now()}
	items := in.Inspect(t.Context(), snapshot.Elections)
	if len(items) != 1 || !items[0].Writes() || time.Until(items[0].Ready) < rescue.Seen-5*time.Second {
		t.Fatalf("%+v", items)
	}
	err = consulx.NewOperator(client, nil).DestroySession(t.Context(), items[0].Destroy)
	if entry, _, infoErr := client.API().Session().Info(s, nil); !errors.Is(err, consulx.ErrRefused) || infoErr != nil || entry == nil {
		t.Errorf("%v; the session is %v (%v)", err, entry, infoErr)
	}
}
