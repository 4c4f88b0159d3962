package memconsul_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// writeUntil writes different values to the key until the query has returned.
func (f *fixture) writeUntil(key string, query *blocked) {
	f.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		f.mustPut("/v1/kv/"+key, fmt.Sprint(n))
		select {
		case <-query.done:
			return
		case <-tick.C:
		}
	}
}

func TestQueriesIgnoreOtherKeys(t *testing.T) {
	for name, path := range map[string]string{"one key": "a/x", "recurse": "a/?recurse", "keys": "a/?keys"} {
		t.Run(name, func(t *testing.T) {
			contract(t, func(f *fixture) {
				f.mustPut("/v1/kv/"+f.key("a/x"), "v")
				first := f.get("/v1/kv/" + f.key(path))
				query := f.block("/v1/kv/"+f.key(path), first.index(), "500ms")
				f.writeUntil(f.key("ax"), query)
				last := query.result(f)
				if last.index() != first.index() || last.body != first.body {
					f.Errorf("the index changed from %d to %d: %s", first.index(), last.index(), last.body)
				}
				if query.took < 500*time.Millisecond {
					f.Errorf("the query returned after %s", query.took)
				}
			})
		})
	}
}

func TestQueriesWakeForTheirKeys(t *testing.T) {
	for name, path := range map[string]string{
		"one key": "a/x", "recurse": "a/?recurse", "keys": "a/?keys", "recurse of the key": "a/x?recurse",
	} {
		t.Run(name, func(t *testing.T) {
			contract(t, func(f *fixture) {
				key := f.key("a/x")
				f.mustPut("/v1/kv/"+key, "v")
				index := f.get("/v1/kv/" + f.key(path)).index()
				for _, change := range []func(){
					func() { f.mustPut("/v1/kv/"+key, "w") },
					func() { f.do(http.MethodDelete, "/v1/kv/"+key, "") },
					func() { f.mustPut("/v1/kv/"+key, "again") },
					func() { f.do(http.MethodDelete, "/v1/kv/"+f.key("a/x")+"?recurse", "") },
				} {
					query := f.block("/v1/kv/"+f.key(path), index, "2m")
					change()
					next := query.result(f).index()
					if next <= index || query.took > patience {
						f.Fatalf("after %s, the index changed from %d to %d", query.took, index, next)
					}
					index = next
				}
			})
		})
	}
}

// For a deleted tree, Consul keeps one tombstone with the deleted prefix. A listing of a longer prefix does not find
// this tombstone. If the longer prefix has an older tombstone, the index decreases and the query stays blocked.
func TestRecursiveDeleteAboveIsMissed(t *testing.T) {
	contract(t, func(f *fixture) {
		list, key := "/v1/kv/"+f.key("a/")+"?recurse", f.key("a/x")
		f.mustPut("/v1/kv/"+key, "v")
		f.do(http.MethodDelete, "/v1/kv/"+key, "")
		tombstone := f.get(list).index()
		f.mustPut("/v1/kv/"+key, "v")
		index := f.get(list).index()
		query := f.block(list, index, "300ms")
		f.do(http.MethodDelete, "/v1/kv/"+f.key("a")+"?recurse", "")
		r := query.result(f)
		if r.code != http.StatusNotFound || r.index() != tombstone || query.took < 300*time.Millisecond {
			f.Errorf("after %s: %d, index %d; the tombstone has %d, the key had %d", query.took, r.code, r.index(), tombstone, index)
		}
	})
}

func TestMissingKey(t *testing.T) {
	contract(t, func(f *fixture) {
		r := f.get("/v1/kv/" + f.key("none"))
		if r.code != http.StatusNotFound || r.index() < 1 || r.body != "" {
			f.Fatalf("%d, index %d, %q", r.code, r.index(), r.body)
		}
		f.mustPut("/v1/kv/"+f.key("elsewhere"), "v")
		query := f.block("/v1/kv/"+f.key("none"), r.index(), "2m")
		if again := query.result(f); again.code != http.StatusNotFound || query.took > patience {
			f.Errorf("a new query after a write to another key: %d after %s", again.code, query.took)
		}
	})
}

func TestIndexAboveTheServersBlocks(t *testing.T) {
	contract(t, func(f *fixture) {
		key := f.key("k")
		f.mustPut("/v1/kv/"+key, "v")
		query := f.block("/v1/kv/"+key, f.entry(key).ModifyIndex+1_000_000, "300ms")
		f.writeUntil(key, query)
		if query.result(f); query.took < 300*time.Millisecond {
			f.Errorf("the query returned after %s", query.took)
		}
	})
}

func TestSessionAndHealthQueriesWake(t *testing.T) {
	contract(t, func(f *fixture) {
		node, check := f.external()
		s := f.session(map[string]any{"Node": node, "NodeChecks": []string{check}})
		health := "/v1/health/node/" + node + "?filter=" + `CheckID+==+%22` + check + `%22`
		for path, change := range map[string]func(){
			"/v1/session/info/" + s:    func() { f.mustPut("/v1/session/destroy/"+s, "") },
			"/v1/session/node/" + node: func() { f.session(map[string]any{"Node": node, "NodeChecks": []string{check}}) },
			"/v1/session/list":         func() { f.session(nil) },
			health:                     func() { f.setCheck(node, check, "warning", "hm") },
		} {
			index := f.get(path).index()
			query := f.block(path, index, "2m")
			change()
			if next := query.result(f).index(); next <= index || query.took > patience {
				f.Errorf("%s: after %s, the index changed from %d to %d", path, query.took, index, next)
			}
		}
	})
}
