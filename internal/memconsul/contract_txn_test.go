package memconsul_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
)

type txnAnswer struct {
	Results []struct{ KV kvEntry }
	Errors  []struct {
		OpIndex int
		What    string
	}
}

// txn runs operations and returns the status and the response. Each operation is a KV object without braces.
func (f *fixture) txn(ops ...string) (int, txnAnswer) {
	f.Helper()
	for i, op := range ops {
		ops[i] = `{"KV":{` + op + `}}`
	}
	r := f.do(http.MethodPut, "/v1/txn", "["+strings.Join(ops, ",")+"]")
	var answer txnAnswer
	if err := json.Unmarshal([]byte(r.body), &answer); err != nil {
		f.Fatalf("%d %s", r.code, r.body)
	}
	return r.code, answer
}

// whats returns the errors of the response, one per line, without the names of the case.
func (f *fixture) whats(answer txnAnswer) string {
	var lines []string
	for _, e := range answer.Errors {
		lines = append(lines, fmt.Sprintf("%d %s", e.OpIndex, strings.ReplaceAll(e.What, f.prefix, "")))
	}
	return strings.Join(lines, "\n")
}

func TestTxnErrors(t *testing.T) {
	contract(t, func(f *fixture) {
		k, none, held := f.key("k"), f.key("none"), f.key("held")
		f.mustPut("/v1/kv/"+k, "v")
		s, rival := f.quickSession(), f.quickSession()
		f.mustPut("/v1/kv/"+held+"?acquire="+s, "v")
		before := f.entry(k).ModifyIndex
		code, answer := f.txn(
			fmt.Sprintf(`"Verb":"set","Key":%q,"Value":"dw=="`, f.key("other")),
			fmt.Sprintf(`"Verb":"cas","Key":%q,"Index":1`, k),
			fmt.Sprintf(`"Verb":"delete-cas","Key":%q,"Index":1`, k),
			fmt.Sprintf(`"Verb":"check-index","Key":%q,"Index":1`, k),
			fmt.Sprintf(`"Verb":"check-index","Key":%q,"Index":1`, none),
			fmt.Sprintf(`"Verb":"check-session","Key":%q,"Session":"x"`, k),
			fmt.Sprintf(`"Verb":"check-session","Key":%q,"Session":"x"`, none),
			fmt.Sprintf(`"Verb":"check-not-exists","Key":%q`, k),
			fmt.Sprintf(`"Verb":"unlock","Key":%q,"Session":%q`, held, rival),
			fmt.Sprintf(`"Verb":"lock","Key":%q,"Session":%q`, held, rival),
			fmt.Sprintf(`"Verb":"lock","Key":%q,"Session":"00000000-0000-0000-0000-000000000000"`, k),
			fmt.Sprintf(`"Verb":"lock","Key":%q`, k),
			fmt.Sprintf(`"Verb":"unlock","Key":%q`, k),
			fmt.Sprintf(`"Verb":"get","Key":%q`, none),
		)
		want := fmt.Sprintf(`1 failed to set key "k", index is stale
2 failed to delete key "k", index is stale
3 failed index check for key "k", current modify index %d != 1
4 failed to check index, key "none" doesn't exist
5 failed session check for key "k", current session "" != "x"
6 failed to check session, key "none" doesn't exist
7 key "k" exists
8 failed to unlock key "held", lock isn't held, or is held by another session
9 failed to lock key "held", lock is already held
10 invalid session "00000000-0000-0000-0000-000000000000"
11 missing session
12 missing session
13 key "none" doesn't exist`, before)
		if got := f.whats(answer); code != http.StatusConflict || got != want {
			f.Errorf("%d\n%s\nwant 409\n%s", code, got, want)
		}
		if answer.Results != nil || f.entry(f.key("other")) != nil {
			f.Error("a part of the transaction was applied")
		}
	})
}

func TestTxnRefusedBeforeItRuns(t *testing.T) {
	contract(t, func(f *fixture) {
		s, rival := f.session(map[string]any{"LockDelay": "1m"}), f.quickSession()
		f.mustPut("/v1/kv/"+f.key("lost")+"?acquire="+s, "v")
		f.mustPut("/v1/session/destroy/"+s, "")
		for op, want := range map[string]string{
			`"Verb":"set","Key":""`:    `0 Must provide key`,
			`"Verb":"bogus","Key":"k"`: `0 unknown KV operation: bogus`,
			fmt.Sprintf(`"Verb":"lock","Key":%q,"Session":%q`, f.key("lost"), rival):          `0 failed to lock key "lost" due to lock delay`,
			fmt.Sprintf(`"Verb":"lock","Key":%q,"Session":"00000000-0000"`, f.key("lost")):    `0 failed to lock key "lost" due to lock delay`,
			fmt.Sprintf(`"Verb":"lock","Key":%q,"Session":"00000000-0000"`, f.key("another")): `0 invalid session "00000000-0000"`,
		} {
			if code, answer := f.txn(op); code != http.StatusConflict || f.whats(answer) != want {
				f.Errorf("%s: %d %s, want %s", op, code, f.whats(answer), want)
			}
		}
	})
}

func TestTxnResults(t *testing.T) {
	contract(t, func(f *fixture) {
		s, k := f.quickSession(), f.key("k")
		flags := uint64(math.MaxUint64)
		code, answer := f.txn(
			fmt.Sprintf(`"Verb":"lock","Key":%q,"Session":%q,"Value":"dg==","Flags":%d`, k, s, flags),
			fmt.Sprintf(`"Verb":"check-session","Key":%q,"Session":%q`, k, s),
			fmt.Sprintf(`"Verb":"set","Key":%q,"Value":"dw=="`, k),
			fmt.Sprintf(`"Verb":"get","Key":%q`, k),
			fmt.Sprintf(`"Verb":"delete","Key":%q`, f.key("none")),
			fmt.Sprintf(`"Verb":"check-not-exists","Key":%q`, f.key("none")),
			fmt.Sprintf(`"Verb":"cas","Key":%q,"Index":0,"Value":""`, f.key("l")),
			fmt.Sprintf(`"Verb":"get-tree","Key":%q`, f.prefix),
			fmt.Sprintf(`"Verb":"unlock","Key":%q,"Session":%q`, k, s),
		)
		var got []string
		for _, r := range answer.Results {
			got = append(got, fmt.Sprint(strings.TrimPrefix(r.KV.Key, f.prefix), " ", r.KV.LockIndex, " ", r.KV.session() == s,
				" ", r.KV.Flags == flags, " ", r.KV.value()))
		}
		want := []string{
			"k 1 true true null", "k 1 true true null", "k 0 true false null", "k 0 true false w",
			"l 0 false false null", "k 0 true false w", "l 0 false false null", "k 0 false false null",
		}
		if code != http.StatusOK || strings.Join(got, "\n") != strings.Join(want, "\n") {
			f.Errorf("%d\n%s\nwant\n%s\n%v", code, strings.Join(got, "\n"), strings.Join(want, "\n"), answer.Errors)
		}
	})
}

// TestTxnAddressesKeysExactly tests that a transaction does not normalize keys. A key in a URL is normalized.
func TestTxnAddressesKeysExactly(t *testing.T) {
	contract(t, func(f *fixture) {
		for _, name := range []string{"a//b", "./c", "d/../e", "\x1b[2J", "\u202e"} {
			key, err := json.Marshal(f.key(name))
			if err != nil {
				f.Fatal(err)
			}
			if code, answer := f.txn(`"Verb":"set","Value":"dg==","Key":` + string(key)); code != http.StatusOK {
				f.Errorf("set %q: %v", name, answer.Errors)
			}
			_, answer := f.txn(`"Verb":"get","Key":` + string(key))
			if len(answer.Results) != 1 || answer.Results[0].KV.Key != f.key(name) {
				f.Errorf("get %q: %+v", name, answer)
			}
		}
		if f.entry(f.key("a/b")) != nil || f.entry(f.key("e")) != nil {
			f.Error("another key was written")
		}
	})
}

// TestSafeRelease tests the transaction that releases a lock, and the errors of the transaction if the lock state has
// changed.
func TestSafeRelease(t *testing.T) {
	contract(t, func(f *fixture) {
		key, s, rival := f.key("k"), f.session(nil), f.quickSession()
		f.mustPut("/v1/kv/"+key+"?flags=7&acquire="+s, "v")
		release := func(e *kvEntry) (int, txnAnswer) {
			return f.txn(
				fmt.Sprintf(`"Verb":"check-index","Key":%q,"Index":%d`, key, e.ModifyIndex),
				fmt.Sprintf(`"Verb":"check-session","Key":%q,"Session":%q`, key, s),
				fmt.Sprintf(`"Verb":"unlock","Key":%q,"Session":%q,"Flags":%d,"Value":%q`, key, s, e.Flags,
					base64.StdEncoding.EncodeToString([]byte(e.value()))),
			)
		}
		before := f.entry(key)
		if code, answer := release(before); code != http.StatusOK {
			f.Fatalf("%d %+v", code, answer)
		}
		after := f.entry(key)
		if after.session() != "" || after.value() != "v" || after.Flags != 7 || after.LockIndex != 1 {
			f.Errorf("a part of the key changed, or the key is held: %+v", after)
		}
		if f.sessionInfo(s) == "[]" {
			f.Error("the session no longer exists")
		}
		if !f.acquire(key, rival, "w") {
			f.Error("the next acquire was rejected")
		}
		now := f.entry(key)
		want := fmt.Sprintf(`0 failed index check for key "k", current modify index %d != %d
1 failed session check for key "k", current session %q != %q
2 failed to unlock key "k", lock isn't held, or is held by another session`, now.ModifyIndex, before.ModifyIndex, rival, s)
		if code, answer := release(before); code != http.StatusConflict || f.whats(answer) != want {
			f.Errorf("%d %s, want %s", code, f.whats(answer), want)
		}
	})
}
