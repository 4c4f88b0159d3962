package memconsul_test

import (
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
