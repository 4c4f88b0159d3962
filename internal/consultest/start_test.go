package consultest_test

import (
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

func TestAFederationAnswersForOtherDatacenters(t *testing.T) {
	agents := consultest.Federation(t, "dc1", "dc2")
	if _, err := agents[1].Client().KV().Put(&api.KVPair{Key: "here", Value: []byte("dc2")}, nil); err != nil {
		t.Fatal(err)
	}
	pair, _, err := agents[0].Client().KV().Get("here", &api.QueryOptions{Datacenter: "dc2"})
	if err != nil || pair == nil || string(pair.Value) != "dc2" {
		t.Fatal(pair, err)
	}
	if pair, _, err := agents[0].Client().KV().Get("here", nil); err != nil || pair != nil {
		t.Error(pair, err)
	}
	names, err := agents[0].Client().Catalog().Datacenters()
	if err != nil || len(names) != 2 || names[0] != "dc1" {
		t.Error(names, err)
	}
	if err := agents[1].Kill(); err != nil {
		t.Fatal(err)
	}
	names, err = agents[0].Client().Catalog().Datacenters()
	t.Log("after dc2 was killed:", names, err)
}
