package consulx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

func keysOf(pairs []election.Pair) []string {
	keys := make([]string, len(pairs))
	for i, p := range pairs {
		keys[i] = p.Key
	}
	slices.Sort(keys)
	return keys
}

func hasSession(all []*election.Session, id string) bool {
	return slices.ContainsFunc(all, func(s *election.Session) bool { return s.ID == id })
}

func TestSurvey(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		s := b.Session(api.SessionEntry{Name: "web"})
		for _, key := range []string{"leader", "members/a b", "members/c?#%", "other"} {
			b.Put(p+"web/"+key, "v")
		}
		b.Put(p+"webby", "no sibling")
		b.Acquire(api.KVPair{Key: p + "web/members/d", Session: s})
		failed := strings.Trim(p, "/")
		if _, err := b.API.Catalog().Register(&api.CatalogRegistration{
			Node: failed, Address: "10.0.0.1", Check: &api.AgentCheck{Node: failed, CheckID: "serfHealth", Status: api.HealthCritical},
		}, nil); err != nil {
			t.Fatal(err)
		}
		found := b.client.Survey(t.Context(), []string{p + "web/leader"})[0]
		if !slices.Contains(found.Failed, failed) {
			t.Errorf("failed nodes: %q", found.Failed)
		}
		want := []string{p + "web/members/a b", p + "web/members/c?#%", p + "web/members/d", p + "web/other"}
		if got := keysOf(found.Siblings); !slices.Equal(got, want) || found.SiblingsCut || found.SiblingsErr != "" {
			t.Fatalf("siblings %q, %+v", got, found.SiblingsErr)
		}
		if !hasSession(found.Sessions, s) || found.SessionsErr != "" || found.At.IsZero() || found.Key != p+"web/leader" {
			t.Fatalf("%d sessions, %q", len(found.Sessions), found.SessionsErr)
		}
		if found := b.client.Survey(t.Context(), []string{"leader without parent"})[0]; found.Siblings != nil || found.SiblingsErr != "" {
			t.Fatalf("a key without a parent has siblings: %+v", found)
		}
	})
}

func TestSurveyOfManySiblingsPrefersContenders(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		s := b.Session()
		for i := range 3 {
			var ops api.TxnOps
			for j := range 40 {
				ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: fmt.Sprintf("%sa%d-%d", p, i, j)}})
			}
			if ok, r, _, err := b.API.Txn().Txn(ops, nil); err != nil || !ok {
				t.Fatal(ok, r, err)
			}
		}
		b.Acquire(api.KVPair{Key: p + s, Session: s})
		b.Acquire(api.KVPair{Key: p + "members/z", Session: s})
		found := b.client.Survey(t.Context(), []string{p + ".lock"})[0]
		got := keysOf(found.Siblings)
		if len(got) != TxnReads || !found.SiblingsCut || !slices.Contains(got, p+s) || !slices.Contains(got, p+"members/z") {
			t.Fatalf("%d siblings, cut %t, %s; want %d with both contenders, cut", len(got), found.SiblingsCut, found.SiblingsErr, TxnReads)
		}
	})
}
