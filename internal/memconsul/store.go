package memconsul

import (
	"sync"
	"time"
)

// store is the state of the datacenter, with one mutex. Records in it are immutable: a change replaces the record, so
// responses can be encoded without the mutex.
type store struct {
	timers *timerSet

	mu    sync.Mutex
	index uint64 // Raft index of the latest write request
	topic map[topic]*signal

	kv       kvTable
	delays   lockDelays
	sessions sessionTable
	catalog  catalogTable
}

func newStore(timers *timerSet) *store {
	return &store{
		timers:   timers,
		index:    3, // a real agent writes its own configuration before it serves requests
		topic:    map[topic]*signal{},
		kv:       newKVTable(),
		delays:   lockDelays{until: map[string]time.Time{}},
		sessions: sessionTable{byID: map[string]*session{}},
		catalog:  newCatalogTable(),
	}
}

// nextIndex returns the index of a new write request. Consul also counts requests without effect.
func (s *store) nextIndex() uint64 {
	s.index++
	return s.index
}

// topic is a set of objects that a blocking query can wait for.
type topic struct {
	table tableName
	name  string
}

type tableName uint8

const (
	topicKey          tableName = iota // one key
	topicPrefix                        // all keys that begin with the name
	topicSession                       // one session
	topicNodeSessions                  // the sessions of one node
	topicSessions                      // all sessions
	topicNodeChecks                    // the checks of one node
	topicServiceName                   // the instances and checks of one service
	topicChecks                        // all checks
	topicNode                          // one node with its services
	topicNodes                         // all nodes
)

// signal is closed when its topic changes. It counts its waiters, so that topics without waiters are removed.
type signal struct {
	changed chan struct{}
	waiters int
}

// subscribe returns the signal of a topic. The caller holds the mutex, and later calls unsubscribe without it.
func (s *store) subscribe(t topic) *signal {
	sig := s.topic[t]
	if sig == nil {
		sig = &signal{changed: make(chan struct{})}
		s.topic[t] = sig
	}
	sig.waiters++
	return sig
}

func (s *store) unsubscribe(t topic, sig *signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sig.waiters--
	if sig.waiters == 0 && s.topic[t] == sig {
		delete(s.topic, t)
	}
}

// notify wakes all queries that wait for the topic. The caller holds the mutex.
func (s *store) notify(table tableName, name string) {
	t := topic{table, name}
	if sig := s.topic[t]; sig != nil {
		close(sig.changed)
		delete(s.topic, t)
	}
}

// notifyKey wakes all queries that wait for the key or for one of its prefixes, from the empty one to the key itself.
func (s *store) notifyKey(key string) {
	s.notify(topicKey, key)
	if len(s.topic) == 0 {
		return
	}
	for end := range len(key) + 1 {
		s.notify(topicPrefix, key[:end])
	}
}
