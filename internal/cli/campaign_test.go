package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
)

func TestCampaignRunsAProgramWhileLeading(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		key := p + "/job/leader"
		r := w.run("campaign", "job", "--value", "me", "-k", p+"/*/leader", "--", "sh", "-c", `echo "$ELECTOP_KEY"; exit 7`).must(t, 7)
		if r.out != key+"\n" {
			t.Errorf("out %q", r.out)
		}
		pair := w.get(key)
		if pair.Session != "" || string(pair.Value) != "me" || pair.Flags != api.LockFlagValue {
			t.Errorf("%+v", pair)
		}
		sessions, _, err := w.client.Session().List(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			if s.Name == "electop campaign" {
				t.Errorf("a session remains: %+v", s)
			}
		}
		if _, err := w.client.KV().Put(&api.KVPair{Key: key, Flags: 42}, nil); err != nil {
			t.Fatal(err)
		}
		w.run("campaign", "job", "-k", p+"/*/leader", "--", "sh", "-c", "kill -9 $$").must(t, 128+9)
		if pair := w.get(key); pair.Flags != 42 { // other candidates may reject different flags
			t.Errorf("the flags became %d", pair.Flags)
		}
	})
}

func TestCampaignStopsTheProgramWhenTheLeadershipIsLost(t *testing.T) {
	w := onMemory(t)
	events := w.follow("watch", "-o", "json")
	started := filepath.Join(t.TempDir(), "started")
	campaign := w.background("campaign", "job", "--", "sh", "-c", "touch "+started+"; exec sleep 1000")
	e := events.until("elected")
	// If the session ended before the candidate leads, the candidate would try again.
	awaitFile(t, started)
	if _, err := w.client.Session().Destroy(e["session"].(string), nil); err != nil {
		t.Fatal(err)
	}
	r := campaign.wait().must(t, exitFailed)
	if !strings.Contains(r.errOut, "lost the lock on service/job/leader while the program was running") {
		t.Errorf("err %q", r.errOut)
	}
}

func TestCampaignRefusesBeforeItWrites(t *testing.T) {
	w := onMemory(t)
	file := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		code int
		says string
	}{
		{[]string{"job", "--", "no-such-program"}, 127, "cannot run CMD: exec: \"no-such-program\": executable file not found"},
		{[]string{"job", "--", "/no/such/program"}, 127, "cannot run CMD: exec: \"/no/such/program\": stat /no/such/program: no such file"},
		{[]string{"job", "--", file}, 126, "permission denied"},
		{[]string{"job*", "--", "true"}, exitUsage, "contains a wildcard"},
		{[]string{"job", "--read-only", "--", "true"}, exitUsage, "--read-only forbids campaign"},
		{[]string{"job", "--ttl", "0"}, exitUsage, "must be from 10s to 24h"},
		{[]string{"job", "--lock-delay", "9s", "--", "true"}, exitUsage, "must be from 10s to 1m0s"},
		{[]string{"job", "--try", "-1s"}, exitUsage, "--try"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			r := w.run(append([]string{"campaign"}, tt.args...)...).must(t, tt.code)
			if strings.Count(r.errOut, "\n") != 1 || !strings.Contains(r.errOut, tt.says) {
				t.Errorf("err %q", r.errOut)
			}
			pairs, _, err := w.client.KV().List("", nil)
			if err != nil || len(pairs) > 0 || len(w.campaigns()) > 0 {
				t.Errorf("campaign wrote to Consul before it failed: %v %v", pairs, err)
			}
		})
	}
}

func TestCampaignRefusesKeysOfOtherSoftware(t *testing.T) {
	w := onMemory(t)
	for key, value := range map[string]string{
		"service/pg/config":       `{"ttl":30,"loop_wait":10}`,
		"service/pg/initialize":   "7320000000000000001",
		"service/pg/members/pg-1": `{"conn_url":"postgres://10.0.0.1:5432/postgres","api_url":"http://10.0.0.1:8008/patroni"}`,
	} {
		if _, err := w.client.KV().Put(&api.KVPair{Key: key, Value: []byte(value)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	sem := &api.KVPair{Key: "service/sem/leader", Value: []byte(`{"Limit":2,"Holders":{}}`), Flags: api.SemaphoreFlagValue}
	if _, err := w.client.KV().Put(sem, nil); err != nil {
		t.Fatal(err)
	}
	has(t, w.run("campaign", "sem", "--", "true").must(t, exitUsage).errOut, "is a semaphore")
	r := w.run("campaign", "pg", "--", "true").must(t, exitFailed) // Patroni's key does not exist without a leader
	if !strings.Contains(r.errOut, "service/pg/leader belongs to Patroni") || w.get("service/pg/leader") != nil || len(w.campaigns()) > 0 {
		t.Errorf("err %q", r.errOut)
	}
}

func TestCampaignGivesUpWhenTryEnds(t *testing.T) {
	slow(t)
	w := onMemory(t)
	p := prefix(t)
	w.acquire(p+"/job/leader", w.session(nil), "another")
	for _, program := range [][]string{nil, {"--", "true"}} {
		args := append([]string{"campaign", "job", "-k", p + "/*/leader", "--try", "500ms"}, program...)
		r := w.run(args...).must(t, exitFailed)
		if !strings.Contains(r.errOut, "job was not acquired within 500ms (--try)") {
			t.Errorf("err %q", r.errOut)
		}
		if left := w.campaigns(); len(left) > 0 {
			t.Errorf("a session remains: %+v", left[0])
		}
	}
	w.run("campaign", "free", "-k", p+"/*/leader", "--try", "30s", "--", "true").must(t, exitOK)
}

// campaigns returns the sessions of campaigns.
func (w *testConsul) campaigns() (found []*api.SessionEntry) {
	w.t.Helper()
	sessions, _, err := w.client.Session().List(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range sessions {
		if s.Name == "electop campaign" {
			found = append(found, s)
		}
	}
	return found
}
