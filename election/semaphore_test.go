package election

import (
	"encoding/json"
	"testing"
)

func semaphore(value string) *Election {
	return &Election{Name: "gpu", Exists: true, Pair: Pair{Key: "jobs/gpu/.lock", Flags: SemaphoreFlag, Value: []byte(value)}}
}

func TestReadSemaphore(t *testing.T) {
	const value = `{"Limit":2,"Holders":{"h1":true,"h2":true,"old":false}}`
	all := []Pair{sibling("jobs/gpu/h1", "h1"), sibling("jobs/gpu/w1", "w1"), sibling("jobs/gpu/h2", ""), sibling("jobs/gpu/log", "x"), sibling("jobs/gpu/deep/x", "x")}
	sessions := []*Session{newSession("h1", "Consul API Semaphore", "n1"), newSession("w1", "mine", "n2")}
	tests := []struct {
		name string
		e    *Election
		s    func(*Surroundings)
		want string
	}{
		{
			"holders, waiters, and a holder whose session ended", semaphore(value), func(*Surroundings) {},
			`{"limit":2,"holders":[{"session":"h1","name":"Consul API Semaphore","node":"n1","gone":false},{"session":"h2","gone":true}],` +
				`"waiters":[{"session":"w1","name":"mine","node":"n2","gone":false}],"contenders_known":true}`,
		},
		{
			"contenders that cannot be read", semaphore(value), func(s *Surroundings) { s.SiblingsErr = "denied" },
			`{"limit":2,"holders":[{"session":"h1","name":"Consul API Semaphore","node":"n1","gone":false},{"session":"h2","gone":false}],` +
				`"waiters":[],"contenders_known":false}`,
		},
		{
			"too many contenders to read", semaphore(value), func(s *Surroundings) { s.SiblingsCut = true },
			`{"limit":2,"holders":[{"session":"h1","name":"Consul API Semaphore","node":"n1","gone":false},{"session":"h2","gone":false}],` +
				`"waiters":[],"contenders_known":false}`,
		},
		{
			"surroundings of another key", semaphore(value), func(s *Surroundings) { s.Key = "jobs/other/.lock" },
			`{"limit":2,"holders":[{"session":"h1","gone":false},{"session":"h2","gone":false}],"waiters":[],"contenders_known":false}`,
		},
		{
			"no session holds a slot", semaphore(`{"Limit":2,"Holders":null}`), func(s *Surroundings) { s.Siblings = nil },
			`{"limit":2,"holders":[],"waiters":[],"contenders_known":true}`,
		},
		{"an invalid value", semaphore("2"), func(*Surroundings) {}, "null"},
		{"not a semaphore", led("web", "service/web/leader", newSession("a", "", "")), func(*Surroundings) {}, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := around(tt.e, all, sessions...)
			tt.s(s)
			got, err := json.Marshal(ReadSemaphore(tt.e, s))
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

func TestIsSemaphoreAndLive(t *testing.T) {
	e := semaphore(`{"Limit":3,"Holders":{"a":true,"b":true}}`)
	if !e.IsSemaphore() || ReadSemaphore(e, nil).Live() != 2 {
		t.Error("the live holders were not counted as 2")
	}
	if got := ReadSemaphore(e, around(e, []Pair{sibling("jobs/gpu/a", "a")})).Live(); got != 1 {
		t.Errorf("%d live", got)
	}
	e.Exists = false
	if e.IsSemaphore() || ReadSemaphore(e, nil) != nil {
		t.Error("a deleted key counts as a semaphore, want no semaphore")
	}
}
