package election

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestListJSON(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 1, 7, 120_400_000, time.UTC)
	e := &Election{
		Name: "web", Datacenter: "dc1", Exists: true, Leader: "web-1", Term: 118, Since: at, SinceKnown: true,
		Pair: Pair{Key: "service/web/leader", Value: []byte(`{"Node":"web-1"}`), Flags: LockFlag, Session: "695b", LockIndex: 118, CreateIndex: 40, ModifyIndex: 13061},
		Session: &Session{
			ID: "695b", Name: "web", Node: "node-1", TTL: 15 * time.Second, Behavior: "release",
			LockDelay: 15 * time.Second, NodeChecks: []string{"serfHealth"},
		},
	}
	want := `{"election":"web","key":"service/web/leader","datacenter":"dc1","state":"led","leader":"web-1",` +
		`"value":"{\"Node\":\"web-1\"}","flags":"3304740253564472344","term":118,"create_index":40,"modify_index":13061,"changes_per_hour":0,` +
		`"since":"2026-11-20T12:01:07.120Z","since_known":true,"held_ms":2500,` +
		`"session":{"id":"695b","name":"web","node":"node-1","behavior":"release","node_checks":["serfHealth"],"service_checks":[],` +
		`"ttl":"15s","ttl_ms":15000,"lock_delay":"15s","lock_delay_ms":15000}}`
	got, err := json.Marshal(e.JSON(at.Add(2500 * time.Millisecond)))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	vacant := &Election{
		Name: "web", Datacenter: "dc1", Exists: true, Pair: Pair{Key: "k", Value: []byte{0xff}}, VacantSince: at, VacantSinceKnown: true,
		LockDelayUntil: at.Add(time.Second), Terms: []Term{{Leader: "web-1", End: at, AliveUntil: at.Add(-20 * time.Second)}},
	}
	want = `{"election":"web","key":"k","datacenter":"dc1","state":"lock_delay","value_base64":"/w==","flags":"0","term":0,` +
		`"create_index":0,"modify_index":0,"changes_per_hour":0,"vacant_since":"2026-11-20T12:01:07.120Z","vacancy_ms":500,"outage_min_ms":500,"outage_max_ms":20500,"last_leader":"web-1",` +
		`"lock_delay_until":"2026-11-20T12:01:08.120Z"}`
	if got, err := json.Marshal(vacant.JSON(at.Add(500 * time.Millisecond))); err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// The literals name no fields, so that a new field breaks the build until the record contains it.
func TestARecordContainsTheWholeElection(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 1, 7, 120_400_001, time.UTC)
	session := func(id string) *Session {
		return &Session{id, "web", "node-1", "dc2", 15 * time.Second, "release", time.Nanosecond, []string{"serfHealth"}, []string{"c"}, 7, time.Time{}, time.Time{}, Store{}}
	}
	terms := []Term{{1, 40, "695b", "web-1", "node-1", at, true, at, true, at, at, KeyDeleted, "evidence", at, "ana@bastion"}}
	for _, want := range []*Election{
		{
			"web", "dc1", Store{"etcd", true, true, true}, Pair{"k", []byte(`{"Limit":1}`), SemaphoreFlag, "695B", 117, 40, 13061, 0, nil}, "web-1", session("695b"), session("a"), 118, at, at.Add(1), at.Add(2), at.Add(3),
			true, true, true, true, true, true, true, terms, []Event{{Time: at, Type: Deleted, Key: "k"}},
		},
		{Name: "web", Pair: Pair{Key: "k", Value: []byte{0xff}, Session: "695b"}, VacantSince: at, LockDelayUntil: at, Terms: []Term{}},
		{Pair: Pair{Key: "k", Value: []byte{}}},
	} {
		text, err := json.Marshal(want.Record(at))
		if err != nil {
			t.Fatal(err)
		}
		var got Election
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(&got, want) {
			t.Errorf("%v\n%s\n%+v, want\n%+v", err, text, got, want)
		}
	}
}
