package consulx

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

// sessionsSeen are lists of sessions as Consul writes them, and some that it does
// not.
var sessionsSeen = []string{
	`[{"ID":"000021d4-d128-a1fb-7d62-cef2eed9efd8","Name":"web-1","Node":"n1","LockDelay":15000000000,"Behavior":"release","TTL":"","NodeChecks":["serfHealth"],"ServiceChecks":null,"CreateIndex":5598,"ModifyIndex":5598},` +
		`{"ID":"000a054f-5a88-cd71-0a6f-b707974095c0","Name":"","Node":"n1","LockDelay":0,"Behavior":"delete","TTL":"15s","NodeChecks":["serfHealth","x"],"ServiceChecks":[{"ID":"service:web","Namespace":""},{"ID":"b"}],"CreateIndex":1,"ModifyIndex":2}]`,
	`[{"ID":"a","Checks":["x","serfHealth"],"NodeChecks":["serfHealth"],"ServiceChecks":[{"ID":"x"}]},{"ID":"b","Checks":["y"],"NodeChecks":null}]`,
	`[{"ID":"a","Namespace":"default","Partition":"default","ServiceChecks":[{"ID":"x","Namespace":"default"}]}]`,
	"[\n  {\n \"ID\": \"a\",\n \"NodeChecks\": [ \"x\" , \"y\" ],\n \"ServiceChecks\": [ ]\n }\n]\n",
	`[{"ID":"a","Name":"\u001b[2J\u202e"}]`,
	`[]`, `null`, ``, `[null]`, `[{}]`, `[1]`, `{}`, `[{"ID":"a","ID":"b"}]`, `[{"id":"a"}]`, `[{"New":[1],"ID":"a"}]`,
	`[{"LockDelay":-1}]`, `[{"LockDelay":9223372036854775808}]`, `[{"LockDelay":"15s"}]`, `[{"LockDelay":1e9}]`, `[{"TTL":null}]`, `[{"TTL":"soon"}]`,
	`[{"NodeChecks":[null]}]`, `[{"NodeChecks":["a",]}]`, `[{"NodeChecks":"a"}]`, `[{"ServiceChecks":[null]}]`, `[{"ServiceChecks":["a"]}]`,
	`[{"ServiceChecks":[{"ID":"a","New":1}]}]`, `[{"ServiceChecks":[{"ID":"a"}`, `[{"NodeChecks":null1}]`,
}

// regularSessions is how many of them need no slow way.
const regularSessions = 5

// sessionsSame checks that a list is read as encoding/json reads it, whatever of
// it was read before.
func sessionsSame(t *testing.T, text []byte) {
	t.Helper()
	var want []*api.SessionEntry
	wantErr := json.Unmarshal(text, &want)
	first := sessionReader{}
	if err := first.read(bytes.Clone(text)); (err != nil) != (wantErr != nil) {
		t.Fatalf("%q: error %v, want %v", text, err, wantErr)
	}
	if wantErr != nil {
		return
	}
	var sessions []*election.Session
	for _, entry := range want {
		if entry != nil {
			sessions = append(sessions, toSession(entry))
		}
	}
	known := map[string]*election.Session{}
	for i, s := range first.got {
		if i%2 == 0 {
			known[s.ID] = s
		}
	}
	again := sessionReader{known: func(id []byte) *election.Session { return known[string(id)] }}
	if err := again.read(bytes.Clone(text)); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if len(first.got) != len(sessions) || len(again.got) != len(sessions) {
		t.Fatalf("%q: %d and %d sessions, want %d", text, len(first.got), len(again.got), len(sessions))
	}
	for i, s := range sessions {
		if !alike(first.got[i], s) {
			t.Errorf("%q:\n got %+v\nwant %+v", text, first.got[i], s)
		}
		if k := known[s.ID]; !alike(again.got[i], s) && (k == nil || k.CreateIndex != s.CreateIndex) {
			t.Errorf("%q, read again:\n got %+v\nwant %+v", text, again.got[i], s)
		}
	}
}

// alike compares sessions; no checks are none, whether null or an empty list.
func alike(a, b *election.Session) bool {
	x, y := *a, *b
	for _, list := range []*[]string{&x.NodeChecks, &x.ServiceChecks, &y.NodeChecks, &y.ServiceChecks} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return reflect.DeepEqual(x, y)
}

func TestSessionsAreReadAsJSONIs(t *testing.T) {
	for _, text := range sessionsSeen {
		sessionsSame(t, []byte(text))
	}
}

func FuzzSessionReader(f *testing.F) {
	for _, text := range sessionsSeen {
		f.Add([]byte(text))
	}
	f.Fuzz(sessionsSame)
}

// What Consul writes must not need the slow way.
func TestSessionsOfConsulAreRegular(t *testing.T) {
	for i, text := range sessionsSeen {
		if r := (&sessionReader{}); i < regularSessions && !r.scan([]byte(text)) {
			t.Errorf("%s is not regular", text)
		}
	}
	agent := consultest.Shared(t)
	for _, entry := range []*api.SessionEntry{
		{Name: "plain"},
		{Name: "<ttl> & \"more\" ünï", TTL: "15s", Behavior: "delete", LockDelay: time.Second},
		{Name: "no checks", NodeChecks: []string{}, ServiceChecks: []api.ServiceCheck{}},
	} {
		if _, _, err := agent.Client().Session().Create(entry, nil); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := http.Get("http://" + agent.Addr() + "/v1/session/list")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if r := (&sessionReader{}); !r.scan(text) || len(r.got) < 3 {
		t.Errorf("%d sessions of %s", len(r.got), text)
	}
}

// A session that was read before is not read again, unless its place was taken by
// another one: a restored state may bring an id back.
func TestKnownSessionsAreKept(t *testing.T) {
	text := []byte(sessionsSeen[0])
	first := sessionReader{}
	if err := first.read(text); err != nil {
		t.Fatal(err)
	}
	other := *first.got[1]
	other.CreateIndex++
	again := sessionReader{known: func(id []byte) *election.Session {
		if string(id) == other.ID {
			return &other
		}
		return first.got[0]
	}}
	if err := again.read(text); err != nil {
		t.Fatal(err)
	}
	if again.got[0] != first.got[0] || again.got[1] == &other || !alike(again.got[1], first.got[1]) {
		t.Errorf("%+v", again.got)
	}
}
