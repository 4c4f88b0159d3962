package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

func TestParseEvent(t *testing.T) {
	for line, want := range map[string]outputLine{
		`{"type":"elected","initial":true,"leader":"change-00000007"}`: {ready: 1},
		`{"type":"vacated","initial":true}`:                            {ready: 1},
		`{"type":"updated","leader":"change-00000007"}`:                {change: 7},
		`{"type":"elected","leader":"change-00000012","term":3}`:       {change: 12},
		`{"type":"vacated","leader":"change-00000007"}`:                {},
		`{"type":"explained","leader":"change-00000007"}`:              {},
		`{"type":"updated","leader":"somebody"}`:                       {},
	} {
		if got := parseEvent([]byte(line)); got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}

func TestParseLine(t *testing.T) {
	for line, want := range map[string]outputLine{
		"ready 100":                          {ready: 100},
		string(valueOfLeader(changeName(5))): {change: 5},
		"@1500000000 ready 3":                {ready: 3, at: time.Unix(0, 1500000000)},
		"@1500000000 change-00000042":        {change: 42, at: time.Unix(0, 1500000000)},
		"change-42":                          {},
		"":                                   {},
	} {
		if got := parseLine([]byte(line)); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

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

func TestHandlerPrintsChanges(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	object := func(key string, index int, value string) string { // "dHdv" is "two"
		return fmt.Sprintf(`{"Key":%q,"CreateIndex":1,"ModifyIndex":%d,"LockIndex":1,"Flags":0,"Value":%q,"Session":"s"}`, key, index, value)
	}
	var printed []outputLine
	for _, text := range []string{
		"[" + object("a", 10, "b25l") + "," + object("b", 11, "b25l") + "]\n",
		"[" + object("a", 10, "b25l") + "," + object("b", 12, "Y2hhbmdlLTAwMDAwMDA5") + "]\n",
	} {
		var out bytes.Buffer
		if err := handle(bytes.NewBufferString(text), &out, []string{state}); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			printed = append(printed, parseLine(bytes.TrimSpace(line)))
		}
	}
	if len(printed) != 2 || printed[0].ready != 2 || printed[1].change != 9 || printed[1].at.IsZero() {
		t.Errorf("got %+v", printed)
	}
}
