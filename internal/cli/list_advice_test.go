package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

func TestListAdvice(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	good := w.session(func(s *api.SessionEntry) { s.Name, s.TTL, s.LockDelay = "good", "20s", 15*time.Second })
	bad := w.session(func(s *api.SessionEntry) { s.Name, s.LockDelay = "bad", time.Millisecond })
	w.acquire(p+"/good/leader", good, "good")
	w.acquire(p+"/bad/leader", bad, "bad")
	if _, err := w.client.KV().Put(&api.KVPair{Key: p + "/bad/leader", Value: []byte("x")}, nil); err != nil {
		t.Fatal(err)
	}
	r := w.run("list", "--advice", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
	var all []struct {
		Election, Key, Code, Why, Do string
		Urgent                       bool
	}
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	var codes []string
	for _, a := range all {
		codes = append(codes, a.Election+" "+a.Code)
		if a.Key != p+"/"+a.Election+"/leader" || a.Why == "" || a.Do == "" {
			t.Errorf("%+v", a)
		}
	}
	if want := []string{"bad overwritten", "bad no_checks", "bad short_lock_delay", "good no_checks"}; !slices.Equal(codes, want) {
		t.Errorf("%v, want %v", codes, want)
	}
	table := w.run("list", "--advice", "bad", "-k", p+"/*/leader").must(t, exitOK)
	has(t, table.out, "overwritten, urgent\nElections    bad\nWhy  ", "\n\nshort_lock_delay\n")
	if strings.Contains(table.out, "good") {
		t.Errorf("the table contains an election that was not selected: %s", table.out)
	}
	w = onMemory(t)
	for _, name := range []string{"auth", "mail"} {
		w.acquire("service/"+name+"/leader", w.session(nil), "x")
	}
	has(t, w.run("list", "--advice").must(t, exitOK).out, "no_checks, urgent\nElections    auth, mail\n") // equal advice is written once
	w = onMemory(t)
	if r := w.run("list", "--advice", "-o", "json").must(t, exitOK); r.out != "[]\n" {
		t.Errorf("%q", r.out)
	}
	r = w.run("list", "--advice").must(t, exitOK)
	has(t, r.errOut, "no advice for these elections")
}
