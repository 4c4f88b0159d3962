package watch

import (
	"bytes"
	"testing"

	"github.com/hashicorp/consul/api"
)

func TestRecursePrintsChanges(t *testing.T) {
	var out bytes.Buffer
	known := map[string]uint64{}
	pairs := api.KVPairs{{Key: "a", Value: []byte("one"), ModifyIndex: 1}, {Key: "b", Value: []byte("two"), ModifyIndex: 2}}
	if err := printChanged(&out, known, pairs, true); err != nil {
		t.Fatal(err)
	}
	pairs[1] = &api.KVPair{Key: "b", Value: []byte("three"), ModifyIndex: 3}
	if err := printChanged(&out, known, pairs, false); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "ready 2\nthree\n" {
		t.Errorf("got %q", got)
	}
}
