package observe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// raceRounds is the number of races. Each begins with a random state.
const raceRounds = 156

// race has a holder, a rival, and a key on which the operator acts while both continue to write.
type race struct {
	backend
	r             *rand.Rand
	key, otherKey string
	holder, rival string
	holderDied    bool
	// record contains the key after every write of the test. Its last element is the expected state if the operator
	// writes nothing.
	record []*api.KVPair
}

// written records the key after a write that electop did not send.
func (x *race) written() { x.record = append(x.record, x.Get(x.key)) }

func (x *race) last() *api.KVPair { return x.record[len(x.record)-1] }

func (x *race) lock(session string) {
	value := fmt.Appendf(nil, "value %d\x00\xff", x.r.Uint64())
	x.Acquire(api.KVPair{Key: x.key, Session: session, Value: value, Flags: x.r.Uint64()})
	x.written()
}

// unlockAsHolder releases the key with another value, as a holder may do.
func (x *race) unlockAsHolder() {
	p := api.KVPair{Key: x.key, Session: x.holder, Value: []byte("released"), Flags: x.r.Uint64()}
	_, _, err := x.API.KV().Release(&p, nil)
	must(x.T, err)
	x.written()
}

func (x *race) remove() {
	x.Delete(x.key)
	x.written()
}

func (x *race) die() {
	x.Destroy(x.holder)
	x.holderDied = true
	x.written()
}

func (x *race) overwrite() {
	x.Put(x.key, fmt.Sprint("overwritten ", x.r.Uint64()))
	x.written()
}

// interference returns the changes between a read and a write of the operator.
func interference() map[string]func(*race) {
	return map[string]func(*race){
		"nothing":                           func(*race) {},
		"the holder writes":                 func(x *race) { x.lock(x.holder) },
		"the holder releases":               (*race).unlockAsHolder,
		"the rival leads":                   func(x *race) { x.unlockAsHolder(); x.lock(x.rival) },
		"the holder leads again":            func(x *race) { x.unlockAsHolder(); x.lock(x.holder) },
		"the holder's session ends":         (*race).die,
		"the session ends, the rival leads": func(x *race) { x.die(); x.lock(x.rival) },
		"deleted":                           (*race).remove,
		"created again by the holder":       func(x *race) { x.remove(); x.lock(x.holder) },
		"created again by the rival":        func(x *race) { x.remove(); x.lock(x.rival) },
		"overwritten":                       (*race).overwrite,
		"deleted and written":               func(x *race) { x.remove(); x.overwrite() },
		"overwritten, written by the holder": func(x *race) {
			x.overwrite()
			x.lock(x.holder)
		},
		"released and overwritten": func(x *race) { x.unlockAsHolder(); x.overwrite() },
		"the rival's acquire is rejected": func(x *race) {
			if ok, _, err := x.API.KV().Acquire(&api.KVPair{Key: x.key, Session: x.rival}, nil); ok || err != nil {
				x.T.Fatal(ok, err)
			}
		},
	}
}

// TestRaces changes the key between a read and a write of the operator. The operator must act only on its target
// hold, and otherwise return an error.
func TestRaces(t *testing.T) { onBoth(t, raceAll) }

func raceAll(b backend) {
	t := b.T
	prefix := b.Prefix()
	r := rand.New(rand.NewPCG(20261120, 1))
	all := interference()
	names := slices.Sorted(maps.Keys(all))
	client, hook := hooked(t, b.Client.Address())
	for i := range raceRounds {
		x := newRace(b, r, fmt.Sprint(prefix, i))
		name := names[i%len(names)]
		destroy := i/len(names)%2 == 1
		x.run(client, hook, name, all[name], destroy)
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
		x.cleanUp()
	}
}

func newRace(b backend, r *rand.Rand, prefix string) *race {
	entry := func(name string) *api.SessionEntry {
		behavior := api.SessionBehaviorRelease
		if r.IntN(4) == 0 {
			behavior = api.SessionBehaviorDelete
		}
		return &api.SessionEntry{Name: name, Behavior: behavior, LockDelay: time.Millisecond}
	}
	last := []string{"leader", ".lock"}[r.IntN(2)]
	x := &race{backend: b, r: r, key: prefix + "/" + last, otherKey: prefix + "/other"}
	for session, name := range map[*string]string{&x.holder: "holder", &x.rival: "rival"} {
		id, _, err := b.API.Session().CreateNoChecks(entry(name), nil)
		must(b.T, err)
		*session = id
	}
	x.Acquire(api.KVPair{Key: x.otherKey, Session: x.rival, Value: []byte("the rival's")})
	x.lock(x.holder)
	return x
}

func (x *race) cleanUp() {
	for _, session := range []string{x.holder, x.rival} {
		x.Destroy(session)
	}
}

// run runs an action with one change, before the operator's first read or immediately before its write.
func (x *race) run(client *consulx.Client, hook *consultest.Hook, name string, interfere func(*race), destroy bool) {
	beforeWrite := x.r.IntN(3) > 0
	other := x.Get(x.otherKey)
	target := targetOf(consulx.PairOf(x.last()))
	read := len(x.record) - 1 // the state at the operator's latest read before its write
	done, wrote := false, false
	hook.Before = func(r *http.Request) {
		wrote = wrote || isDestroy(r) // the reads after a destroy verify it
		switch writes := isUnlock(r) || isDestroy(r); {
		case !writes && !wrote:
			read = len(x.record) - 1
		case !writes:
		case beforeWrite && !done:
			done = true
			interfere(x)
		}
	}
	if !beforeWrite {
		interfere(x)
	}
	var stages []election.ActionStage
	op := consulx.NewOperator(client, func(a election.OperatorAction) { stages = append(stages, a.Stage) })
	var err error
	if destroy {
		err = op.DestroySession(x.T.Context(), election.Destroy{Target: target, Shown: time.Now()})
	} else {
		err = op.Release(x.T.Context(), target)
	}
	hook.Before = nil
	what := fmt.Sprintf("%s, destroy %t, immediately before the write %t", name, destroy, beforeWrite)
	ended := election.ActionDone
	if err != nil {
		ended = election.ActionFailed
	}
	if len(stages) > 0 && !slices.Equal(stages, []election.ActionStage{election.ActionStarted, ended}) || len(stages) == 0 && err == nil {
		x.T.Errorf("%s: error %v with the stages %v", what, err, stages)
	}
	if destroy {
		x.checkDestroy(what, target, err, x.record[read])
	} else {
		x.checkRelease(what, target, err)
	}
	if now := x.Get(x.otherKey); !reflect.DeepEqual(now, other) {
		x.T.Errorf("%s: another key changed from %+v to %+v", what, other, now)
	}
}

// isUnlock reports whether a request is the transaction that releases a key.
func isUnlock(r *http.Request) bool {
	if r.URL.Path != "/v1/txn" || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	text, err := io.ReadAll(body)
	return err == nil && bytes.Contains(text, []byte(`"Verb":"unlock"`))
}

func (x *race) checkRelease(what string, target election.Target, err error) {
	last, now := x.last(), x.Get(x.key)
	if last == nil || !target.SameHold(consulx.PairOf(last)) {
		if !errors.Is(err, consulx.ErrMoved) || !reflect.DeepEqual(now, last) {
			x.T.Errorf("%s: got error %v, want ErrMoved; the key was %+v and is %+v, want no change", what, err, last, now)
		}
		return
	}
	want := *last
	want.Session = ""
	if now != nil {
		want.ModifyIndex = now.ModifyIndex
	}
	if err != nil || now == nil || !reflect.DeepEqual(*now, want) || now.ModifyIndex <= last.ModifyIndex {
		x.T.Errorf("%s: got error %v; the key was %+v and is %+v, want only the session removed", what, err, last, now)
	}
}

// checkDestroy compares a destroy with the operator's latest read of the key, because Consul has no conditional
// destroy. The rival's hold must not change.
func (x *race) checkDestroy(what string, target election.Target, err error, read *api.KVPair) {
	last, now := x.last(), x.Get(x.key)
	held := read != nil && read.Session == target.Session
	ended := errors.Is(err, consulx.ErrMoved) || x.holderDied && errors.Is(err, consulx.ErrNoSession)
	if held != (err == nil) || !held && !ended {
		x.T.Errorf("%s: got error %v after the operator had read %+v, want ErrMoved only if the hold had ended", what, err, read)
	}
	entry, _, infoErr := x.API.Session().Info(target.Session, nil)
	if infoErr != nil {
		x.T.Fatal(infoErr)
	}
	if gone := entry == nil; gone != (held || x.holderDied) {
		x.T.Errorf("%s: got error %v; the session no longer exists: %t, want %t", what, err, gone, held || x.holderDied)
	}
	switch untouched := reflect.DeepEqual(now, last); {
	case !held || last == nil || last.Session != target.Session:
		if !untouched {
			x.T.Errorf("%s: the key was %+v and is %+v, want no change", what, last, now)
		}
	case now != nil && (now.Session != "" || !bytes.Equal(now.Value, last.Value) || now.Flags != last.Flags):
		x.T.Errorf("%s: the key was %+v and is %+v, want it unlocked with the same content", what, last, now)
	}
}
