package memconsul_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Kinds of changes of a key's indexes.
const (
	same   = 0
	bumped = 1
	fresh  = 2 // the key has a new CreateIndex
)

type keyState struct {
	lock    uint64
	modify  int
	holder  string // who holds the key: "", "own" or "other"
	value   string // "null" if the key has no value
	flags   uint64
	missing bool
}

// keyCase tests the effect of one operation on a key that "own" has acquired with value "v" and flags 7. LockIndex is
// 1 before the operation.
type keyCase struct {
	name   string
	before []string // queries of PUTs with the body "v"; after a leading "-", of DELETEs
	act    string   // query and body, separated by a space
	answer string
	after  keyState
}

func keyCases() []keyCase {
	held := keyState{1, same, "own", "v", 7, false}
	return []keyCase{
		{"acquire unlocked", []string{"release=own&flags=7"}, "acquire=other w", "true", keyState{2, bumped, "other", "w", 0, false}},
		{"acquire with flags", []string{"release=own"}, "acquire=own&flags=9 w", "true", keyState{2, bumped, "own", "w", 9, false}},
		{"acquire again, other value", nil, "acquire=own w", "true", keyState{1, bumped, "own", "w", 0, false}},
		{"acquire again, same value and flags", nil, "acquire=own&flags=7 v", "true", held},
		{"acquire while another session holds the key", nil, "acquire=other w", "false", held},
		{"plain write while held", nil, " w", "true", keyState{0, bumped, "own", "w", 0, false}},
		{"plain write of the same value while held", nil, "flags=7 v", "true", keyState{0, bumped, "own", "v", 7, false}},
		{"cas while held", nil, "cas=M w", "true", keyState{0, bumped, "own", "w", 0, false}},
		{"cas with an old index", nil, "cas=1 w", "false", held},
		{"cas=0 on a key that exists", nil, "cas=0 w", "false", held},
		{"holder acquires after a plain write", []string{""}, "acquire=own w", "true", keyState{0, bumped, "own", "w", 0, false}},
		{"plain write while unlocked", []string{"release=own"}, " w", "true", keyState{0, bumped, "", "w", 0, false}},
		{"acquire after a plain write while unlocked", []string{"release=own", ""}, "acquire=own w", "true",
			keyState{1, bumped, "own", "w", 0, false}},
		{"plain write of the same value, LockIndex already 0", []string{"release=own", ""}, " v", "true", keyState{0, same, "", "v", 0, false}},
		{"release with a body", nil, "release=own w", "true", keyState{1, bumped, "", "w", 0, false}},
		{"release with a body and flags", nil, "release=own&flags=7 v", "true", keyState{1, bumped, "", "v", 7, false}},
		{"release without a body", nil, "release=own", "true", keyState{1, bumped, "", "null", 0, false}},
		{"release by another session", nil, "release=other w", "false", held},
		{"release of an unlocked key", []string{"release=own&flags=7"}, "release=own w", "false", keyState{1, same, "", "v", 7, false}},
		{"release of a missing key", []string{"-"}, "release=own w", "false", keyState{missing: true}},
		{"delete while held", nil, "-", "true", keyState{missing: true}},
		{"delete with an old index", nil, "-cas=1", "false", held},
		{"delete with the index", nil, "-cas=M", "true", keyState{missing: true}},
		{"acquire after a delete", []string{"-"}, "acquire=own w", "true", keyState{1, fresh, "own", "w", 0, false}},
		{"cas=0 on a missing key", []string{"-"}, "cas=0 w", "true", keyState{0, fresh, "", "w", 0, false}},
	}
}

func TestKeyTable(t *testing.T) {
	contract(t, func(f *fixture) {
		ids := map[string]string{"own": f.quickSession(), "other": f.quickSession()}
		for i, c := range keyCases() {
			c.run(f, f.key(fmt.Sprint(i)), ids)
		}
		for name, id := range ids {
			if f.sessionInfo(id) == "[]" {
				f.Errorf("the session %s was invalidated", name)
			}
		}
	})
}

func (c keyCase) run(f *fixture, key string, ids map[string]string) {
	f.Helper()
	f.change(key, "acquire=own&flags=7", "v", ids)
	for _, query := range c.before {
		f.change(key, query, "v", ids)
	}
	before := f.entry(key)
	if before == nil {
		before = &kvEntry{}
	}
	query, body, _ := strings.Cut(c.act, " ")
	if got := f.change(key, query, body, ids); got != c.answer {
		f.Errorf("%s: the response is %s, want %s", c.name, got, c.answer)
	}
	if got := stateOf(before, f.entry(key), ids); got != c.after {
		f.Errorf("%s: got the key %+v, want %+v", c.name, got, c.after)
	}
}

// change sends the PUT or DELETE that a query of a keyCase stands for.
func (f *fixture) change(key, query, body string, ids map[string]string) string {
	f.Helper()
	method := http.MethodPut
	if rest, isDelete := strings.CutPrefix(query, "-"); isDelete {
		method, query = http.MethodDelete, rest
	}
	if e := f.entry(key); e != nil {
		query = strings.ReplaceAll(query, "cas=M", fmt.Sprintf("cas=%d", e.ModifyIndex))
	}
	for name, id := range ids {
		query = strings.ReplaceAll(query, "="+name, "="+id)
	}
	return f.do(method, "/v1/kv/"+key+"?"+query, body).body
}

func stateOf(before, after *kvEntry, ids map[string]string) keyState {
	if after == nil {
		return keyState{missing: true}
	}
	got := keyState{lock: after.LockIndex, value: after.value(), flags: after.Flags}
	switch {
	case after.CreateIndex != before.CreateIndex:
		got.modify = fresh
	case after.ModifyIndex > before.ModifyIndex:
		got.modify = bumped
	}
	for name, id := range ids {
		if after.session() == id {
			got.holder = name
		}
	}
	return got
}

// TestPlainWriteResetsUnlockedLockIndex tests that a plain write resets LockIndex even if no session holds the key.
func TestPlainWriteResetsUnlockedLockIndex(t *testing.T) {
	contract(t, func(f *fixture) {
		key, s := f.key("k"), f.quickSession()
		for range 3 {
			f.mustPut("/v1/kv/"+key+"?acquire="+s, "v")
			f.mustPut("/v1/kv/"+key+"?release="+s, "v")
		}
		if got := f.entry(key).LockIndex; got != 3 {
			f.Fatalf("after three terms LockIndex is %d", got)
		}
		f.mustPut("/v1/kv/"+key, "v")
		if got := f.entry(key).LockIndex; got != 0 {
			f.Errorf("after a plain write LockIndex is %d", got)
		}
		f.mustPut("/v1/kv/"+key+"?acquire="+s, "v")
		if got := f.entry(key).LockIndex; got != 1 {
			f.Errorf("in the next term LockIndex is %d", got)
		}
	})
}

func TestValueSizeLimit(t *testing.T) {
	contract(t, func(f *fixture) {
		const limit = 512 << 10
		value := bytes.Repeat([]byte{0, 0xff}, limit/2)
		f.mustPut("/v1/kv/"+f.key("k"), string(value))
		if got := f.get("/v1/kv/" + f.key("k") + "?raw"); got.body != string(value) {
			f.Errorf("the value of %d bytes was returned as %d other bytes", len(value), len(got.body))
		}
		r := f.do(http.MethodPut, "/v1/kv/"+f.key("k"), string(value)+"x")
		if r.code != http.StatusRequestEntityTooLarge || !strings.Contains(r.body, "max size: 524288 bytes") {
			f.Errorf("a value of 524,289 bytes: %d %s", r.code, r.body)
		}
	})
}

func TestListing(t *testing.T) {
	contract(t, func(f *fixture) {
		for _, key := range []string{"a", "a/1", "a/2/x", "a/2/y", "b"} {
			f.mustPut("/v1/kv/"+f.key(key), "v")
		}
		keys := func(query string) string {
			r := f.get("/v1/kv/" + query)
			if r.code == http.StatusNotFound {
				return "404"
			}
			return strings.ReplaceAll(compact(f.T, r.body), f.prefix, "")
		}
		for query, want := range map[string]string{
			f.key("a") + "?keys":              `["a","a/1","a/2/x","a/2/y"]`,
			f.key("a/") + "?keys&separator=/": `["a/1","a/2/"]`,
			f.key("") + "?keys&separator=/":   `["a","a/","b"]`,
			f.key("a/") + "?keys&seperator=/": `["a/1","a/2/"]`,
			f.key("none") + "?keys":           "404",
			f.key("none") + "?recurse":        "404",
			f.prefix + "a%2F2%2Fx" + "?keys":  `["a/2/x"]`,
		} {
			if got := keys(query); got != want {
				f.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		if r := f.do(http.MethodDelete, "/v1/kv/"+f.key("a/")+"?recurse", ""); r.body != "true" {
			f.Errorf("DELETE ?recurse: %s", r.body)
		}
		if got := keys(f.key("") + "?keys"); got != `["a","b"]` {
			f.Errorf("after DELETE ?recurse: %s", got)
		}
	})
}
