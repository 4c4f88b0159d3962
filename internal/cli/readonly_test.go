package cli

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/hashicorp/consul/api"
	"github.com/spf13/cobra"
)

// writes reports whether a request may change Consul's state or its Raft log.
func (r recorded) writes() bool {
	switch {
	case r.method == http.MethodGet || r.path == "/v1/internal/acl/authorize":
		return false
	case r.path != "/v1/txn":
		return true
	}
	items, ok := bodyItems(r)
	return !ok || slices.ContainsFunc(items, func(op map[string]json.RawMessage) bool { return string(op["Verb"]) != `"get"` })
}

// --read-only forbids every write, even one that changes no key.
func TestReadOnlySendsNoWrite(t *testing.T) {
	w := onMemory(t)
	for _, name := range []string{"web", "vacant", "delayed"} {
		s := w.session(nil)
		w.acquire("service/"+name+"/leader", s, name)
		switch name {
		case "vacant":
			w.unlock("service/vacant/leader", s)
		case "delayed":
			if _, err := w.client.Session().Destroy(s, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	leader, _ := cluster(w, "service") // a released key of Patroni has a fix that rescue applies
	if ok, _, err := w.client.KV().Release(&api.KVPair{Key: "service/db/leader", Session: leader, Value: []byte("pg1")}, nil); err != nil || !ok {
		t.Fatal(ok, err)
	}
	session := w.get("service/web/leader").Session
	r := record(t, w.addr)
	w.addr = r.addr
	for _, args := range append(everyCommand(session), []string{"rescue", "vacant", "delayed", "db", "--yes"}) {
		begun := len(r.requests())
		flags := []string{"--read-only", "--history", historyFile(t)}
		switch args[0] {
		case cobra.ShellCompRequestCmd:
			w.complete(append(flags, args[1:]...)...)
		case "watch", "record":
			running := w.follow(append(flags, args...)...)
			eventually(t, "queries", func() bool { return len(r.requests()) > begun+enoughRequests })
			running.stop()
		default:
			w.run(append(flags, args...)...)
		}
		for _, one := range r.requests()[begun:] {
			if one.writes() {
				t.Errorf("%v: %s %s %s", args, one.method, one.path, one.body)
			}
		}
	}
}
