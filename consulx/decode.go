package consulx

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/hashicorp/consul/api"

	"electop/election"
)

// PairOf converts a key of Consul's API.
func PairOf(p *api.KVPair) election.Pair {
	return election.Pair{
		Key: p.Key, Value: p.Value, Flags: p.Flags, Session: p.Session, LockIndex: p.LockIndex,
		CreateIndex: p.CreateIndex, ModifyIndex: p.ModifyIndex,
	}
}

// sessionOf converts a session. datacenter is empty for the agent's own datacenter.
func sessionOf(e *api.SessionEntry, datacenter string) *election.Session {
	s := &election.Session{
		ID: e.ID, Name: e.Name, Node: e.Node, Datacenter: datacenter, Behavior: e.Behavior, LockDelay: e.LockDelay,
		CreateIndex: e.CreateIndex, NodeChecks: slices.Clone(e.NodeChecks),
	}
	// An empty TTL means that the session has no TTL. ParseDuration accepts every other TTL that Consul accepts.
	s.TTL, _ = time.ParseDuration(e.TTL)
	for _, check := range e.ServiceChecks {
		s.ServiceChecks = append(s.ServiceChecks, check.ID)
	}
	// Clients older than Consul 1.7 set node checks in the field Checks.
	for _, id := range e.Checks {
		if !slices.Contains(s.NodeChecks, id) && !slices.Contains(s.ServiceChecks, id) {
			s.NodeChecks = append(s.NodeChecks, id)
		}
	}
	return s
}

// ChecksOf converts health checks of Consul's API.
func ChecksOf(all api.HealthChecks) []election.Check {
	checks := make([]election.Check, 0, len(all))
	for _, c := range all {
		if c == nil { // only a faulty proxy sends null
			continue
		}
		checks = append(checks, election.Check{
			ID: c.CheckID, Name: c.Name, Node: c.Node, Service: c.ServiceName, Status: c.Status,
			Output: c.Output, ModifyIndex: c.ModifyIndex,
		})
	}
	return checks
}

// PairList is a decoded list of keys.
type PairList struct {
	Pairs []election.Pair
	// sums contains the hash of each pair's JSON text. It is empty if the hashes are unknown.
	sums []uint64
}

//nolint:gochecknoglobals // constant
var seed = maphash.MakeSeed()

// DecodePairs decodes a list of keys (GET /v1/kv/:prefix?recurse). Pairs with unchanged JSON text are reused from the
// previous list, because decoding is the most expensive step after a change among 10,000 elections (`make bench`).
func DecodePairs(text []byte, before PairList) (PairList, error) {
	if list, ok := decodeEach(text, before); ok {
		return list, nil
	}
	var list PairList
	err := json.Unmarshal(text, &list.Pairs)
	return list, err
}

// decodeOnce are the options of json.Unmarshal without its first pass, which only validates the text. After an error, the
// result may be incomplete.
//
//nolint:gochecknoglobals // constant
var decodeOnce = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

// shortestPair is less than the number of bytes in the JSON text of a pair. It limits the memory that is allocated for
// a response with many closing braces in its keys.
const shortestPair = 80

// decodeEach decodes each pair separately, up to the next closing brace. It returns false if a key contains a closing
// brace, because the text up to that brace is not valid JSON.
func decodeEach(text []byte, before PairList) (list PairList, ok bool) {
	rest, open := bytes.CutPrefix(bytes.Trim(text, jsonSpace), []byte("["))
	known := len(before.sums)
	count := min(bytes.Count(text, []byte("}")), len(text)/shortestPair+1)
	list.Pairs, list.sums = make([]election.Pair, 0, count), make([]uint64, 0, count)
	for i := 0; open; {
		pair, after, complete := bytes.Cut(rest, []byte("}"))
		if !complete {
			return PairList{}, false
		}
		sum := maphash.Bytes(seed, pair)
		if i < known && before.sums[i] == sum {
			list.add(before.Pairs[i], sum)
			i++
		} else {
			var p election.Pair
			if jsonv2.Unmarshal(rest[:len(pair)+1], &p, decodeOnce) != nil {
				return PairList{}, false
			}
			list.add(p, sum)
			for i < known && before.Pairs[i].Key <= p.Key {
				i++
			}
		}
		rest, open = bytes.CutPrefix(bytes.TrimLeft(after, jsonSpace), []byte(","))
	}
	return list, len(list.Pairs) > 0 && string(bytes.Trim(rest, jsonSpace)) == "]"
}

// jsonSpace is the white space that JSON allows. Development agents send indented JSON.
const jsonSpace = " \t\r\n"

func (l *PairList) add(p election.Pair, sum uint64) {
	l.Pairs, l.sums = append(l.Pairs, p), append(l.sums, sum)
}

// Part returns the pairs with the indexes in the half-open range [from, to).
func (l PairList) Part(from, to int) PairList {
	l.Pairs = l.Pairs[from:to:to]
	if len(l.sums) > 0 {
		l.sums = l.sums[from:to:to]
	}
	return l
}

// Keep deletes the pairs for which keep returns false.
func (l *PairList) Keep(keep func(*election.Pair) bool) {
	kept := PairList{Pairs: l.Pairs[:0], sums: l.sums[:0]}
	for i := range l.Pairs {
		switch {
		case !keep(&l.Pairs[i]):
		case len(l.sums) == 0:
			kept.Pairs = append(kept.Pairs, l.Pairs[i])
		default:
			kept.add(l.Pairs[i], l.sums[i])
		}
	}
	clear(l.Pairs[len(kept.Pairs):])
	*l = kept
}
