package consulx

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// rawSession is a session as it stands in an answer. Its slices are parts of the
// answer.
type rawSession struct {
	id, name, node, behavior, ttl     []byte
	nodeChecks, serviceChecks, checks [][]byte
	lockDelay, createIndex            uint64
}

// sessionReader makes sessions of answers of /v1/session/list. A session never
// changes, so that those that were read before are taken from there, and what
// many have in common is kept once.
type sessionReader struct {
	known  func(id []byte) *election.Session // may be nil
	texts  map[string]string
	checks []string // of the node, of the session before
	got    []*election.Session
}

// read gives the answer to encoding/json where it does not look as Consul writes
// it, so that both read the same.
func (r *sessionReader) read(text []byte) error {
	if r.scan(text) {
		return nil
	}
	r.got = nil
	var entries []*api.SessionEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		return err
	}
	for _, entry := range entries {
		if entry != nil {
			r.got = append(r.got, toSession(entry))
		}
	}
	return nil
}

// scan reads a list of objects. It reports false as soon as it sees what it does
// not know for sure.
func (r *sessionReader) scan(text []byte) (regular bool) {
	r.got, r.texts = nil, map[string]string{}
	var raw rawSession
	s := scanner{text: text}
	return s.list(func() bool {
		raw = rawSession{nodeChecks: raw.nodeChecks[:0], serviceChecks: raw.serviceChecks[:0], checks: raw.checks[:0]}
		ok := s.session(&raw)
		if ok {
			r.got = append(r.got, r.session(&raw))
		}
		return ok
	})
}

func (r *sessionReader) session(raw *rawSession) *election.Session {
	if r.known != nil {
		if s := r.known(raw.id); s != nil && s.CreateIndex == raw.createIndex {
			return s
		}
	}
	s := &election.Session{
		ID: string(raw.id), Name: string(raw.name), Node: r.text(raw.node), Behavior: r.text(raw.behavior),
		LockDelay: time.Duration(raw.lockDelay), CreateIndex: raw.createIndex, //nolint:gosec // the scanner bounds it
	}
	if len(raw.ttl) > 0 {
		s.TTL, _ = time.ParseDuration(string(raw.ttl)) // what Consul accepted parses
	}
	for _, id := range raw.serviceChecks {
		s.ServiceChecks = append(s.ServiceChecks, r.text(id))
	}
	s.NodeChecks = r.boundChecks(raw, s.ServiceChecks)
	return s
}

// boundChecks are the checks of the node. Clients older than Consul 1.7 bind them
// under another name.
func (r *sessionReader) boundChecks(raw *rawSession, others []string) []string {
	if len(raw.checks) == 0 && slices.EqualFunc(raw.nodeChecks, r.checks, func(a []byte, b string) bool { return string(a) == b }) {
		return r.checks
	}
	ids := make([]string, 0, len(raw.nodeChecks))
	for _, id := range raw.nodeChecks {
		ids = append(ids, r.text(id))
	}
	for _, id := range raw.checks {
		if id := r.text(id); !slices.Contains(ids, id) && !slices.Contains(others, id) {
			ids = append(ids, id)
		}
	}
	r.checks = slices.Clip(ids)
	return r.checks
}

// text keeps one copy of what many sessions have in common.
func (r *sessionReader) text(raw []byte) string {
	if text, ok := r.texts[string(raw)]; ok {
		return text
	}
	text := string(raw)
	r.texts[text] = text
	return text
}

// The members of a session and of a check in it, one bit each.
const (
	memberID = 1 << iota
	memberName
	memberNode
	memberLockDelay
	memberBehavior
	memberTTL
	memberNodeChecks
	memberServiceChecks
	memberChecks
	memberCreated
	memberModified
	memberWhere
	memberPart
)

func (s *scanner) session(raw *rawSession) bool {
	return s.object(func(name []byte) (bit int, ok bool) {
		switch string(name) {
		case "ID":
			bit = memberID
			raw.id, ok = s.str()
		case "Name":
			bit = memberName
			raw.name, ok = s.str()
		case "Node":
			bit = memberNode
			raw.node, ok = s.str()
		case "LockDelay":
			bit = memberLockDelay
			raw.lockDelay, ok = s.number()
			ok = ok && raw.lockDelay <= math.MaxInt64
		case "Behavior":
			bit = memberBehavior
			raw.behavior, ok = s.str()
		case "TTL":
			bit = memberTTL
			raw.ttl, ok = s.str()
		case "NodeChecks":
			bit = memberNodeChecks
			ok = s.strs(&raw.nodeChecks)
		case "ServiceChecks":
			bit = memberServiceChecks
			ok = s.serviceChecks(&raw.serviceChecks)
		case "Checks":
			bit = memberChecks
			ok = s.strs(&raw.checks)
		case "CreateIndex":
			bit = memberCreated
			raw.createIndex, ok = s.number()
		case "ModifyIndex":
			bit = memberModified
			_, ok = s.number()
		case "Namespace": // Consul Enterprise tells where the session is
			bit = memberWhere
			_, ok = s.str()
		case "Partition":
			bit = memberPart
			_, ok = s.str()
		}
		return bit, ok
	})
}

// strs reads a list of strings, or null.
func (s *scanner) strs(into *[][]byte) bool {
	return s.null() || s.take('[') && s.series(']', func() bool {
		text, ok := s.str()
		*into = append(*into, text)
		return ok
	})
}

// serviceChecks reads the ids of a list of objects, or null.
func (s *scanner) serviceChecks(into *[][]byte) bool {
	return s.null() || s.take('[') && s.series(']', func() bool {
		var id []byte
		ok := s.object(func(name []byte) (bit int, ok bool) {
			switch string(name) {
			case "ID":
				bit = memberID
				id, ok = s.str()
			case "Namespace":
				bit = memberWhere
				_, ok = s.str()
			}
			return bit, ok
		})
		*into = append(*into, id)
		return ok
	})
}
