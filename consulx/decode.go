package consulx

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"
	"time"
	"unicode"

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

// Decoded contains decoded pairs by the hash of their JSON text.
type Decoded map[uint64]election.Pair

//nolint:gochecknoglobals // constant
var seed = maphash.MakeSeed()

// DecodePairs decodes a list of keys (GET /v1/kv/:prefix?recurse). It takes pairs with unchanged JSON text from an earlier
// result, because decoding is the most expensive step after a change among 10,000 elections (`make bench`).
func DecodePairs(text []byte, before Decoded) (pairs []election.Pair, decoded Decoded, err error) {
	pairs, decoded = make([]election.Pair, 0, len(before)), make(Decoded, len(before))
	rest, open := bytes.CutPrefix(bytes.Trim(text, jsonSpace), []byte("["))
	for open {
		pair, after, _ := bytes.Cut(rest, []byte("}"))
		sum := maphash.Bytes(seed, pair)
		p, known := before[sum]
		pairs = append(pairs, p)
		last := &pairs[len(pairs)-1]
		if !known && decodeOnce(rest[:min(len(rest), len(pair)+1)], last) != nil {
			rest = nil // for example, a key contains a closing brace
			break
		}
		decoded[sum] = *last
		rest, open = bytes.CutPrefix(bytes.TrimLeft(after, jsonSpace), []byte(","))
	}
	if len(pairs) > 0 && string(bytes.Trim(rest, jsonSpace)) == "]" {
		return pairs, decoded, nil
	}
	pairs = nil
	err = json.Unmarshal(text, &pairs)
	return pairs, nil, err
}

// decodeOnce is json.Unmarshal without its first pass, which only validates the text. After an error, v may be incomplete.
func decodeOnce(text []byte, v any) error {
	return jsonv2.Unmarshal(text, v, jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))
}

// jsonSpace is the white space that JSON allows. Development agents send indented JSON.
const jsonSpace = " \t\r\n"

// LiteralPrefix returns the longest beginning of prefix that Consul's HTTP API does not change. Consul cleans paths:
// "a//b", "a/./b" and "a/x/../b" address other keys. It rejects paths with characters that are not printable.
func LiteralPrefix(prefix string) string {
	if i := strings.IndexFunc(prefix, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		prefix = prefix[:i]
	}
	start := 0
	for {
		segment, _, more := strings.Cut(prefix[start:], "/")
		switch {
		case segment == "." || segment == "..", segment == "" && more:
			return prefix[:start]
		case !more:
			return prefix
		}
		start += len(segment) + 1
	}
}

// Literal reports whether the HTTP API leaves a key unchanged.
func Literal(key string) bool { return key != "" && LiteralPrefix(key) == key }
