package consulx

import (
	"bytes"
	"testing"
	"time"
)

func TestAnUnchangedListOfSessionsIsNotDecodedAgain(t *testing.T) {
	var sessions sessionDecoder
	text := sessionList(t, 3)
	first, err := sessions.Decode(text, "dc2")
	if err != nil || len(first) != 3 || first[1].Name != "candidate-00001" || first[1].TTL != 15*time.Second || first[1].Datacenter != "dc2" {
		t.Fatalf("%v, %+v", err, first)
	}
	first[0] = first[2]
	again, err := sessions.Decode(text, "dc2")
	if err != nil || len(again) != 3 || again[1] != first[1] || again[0] == first[0] {
		t.Errorf("%v, %+v; want the sessions of the first list, not changed by its caller", err, again)
	}
	if _, err := sessions.Decode(text[:len(text)/2], "dc2"); err == nil {
		t.Error("a truncated list was decoded")
	}
	changed, err := sessions.Decode(bytes.ReplaceAll(text, []byte("candidate-00001"), []byte("candidate-00009")), "dc2")
	if err != nil || len(changed) != 3 || changed[1].Name != "candidate-00009" {
		t.Errorf("%v, %+v", err, changed)
	}
	if none, err := sessions.Decode([]byte("[]"), "dc2"); err != nil || len(none) != 0 {
		t.Errorf("%v, %+v", err, none)
	}
}
