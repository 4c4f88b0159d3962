package memconsul

import (
	"sync"
)

// store is the whole state of the datacenter behind one mutex. Records are never changed once they are in it: a
// change puts a new record in the old one's place, so answers can be encoded without the mutex.
type store struct {
	timers *timerSet

	mu    sync.Mutex
	index uint64 // of the last write request, as raft counts them
	topic map[topic]*signal

	kv       kvTable
	delays   lockDelays
	sessions sessionTable
	catalog  catalogTable
}

func newStore(timers *timerSet) *store {
	return &store{
		timers:   timers,
		index:    3, // a real agent has written its own configuration before anybody can ask
		topic:    map[topic]*signal{},
		kv:       newKVTable(),
		delays:   lockDelays{until: map[string]delayEnd{}},
		sessions: sessionTable{byID: map[string]*session{}},
		catalog:  newCatalogTable(),
	}
}

// nextIndex takes the index of one write request. Consul counts requests that turn out to change nothing as well.
func (s *store) nextIndex() uint64 {
	s.index++
	return s.index
}

// topic is something a blocked query can wait for.
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

// signal is closed when its topic changes. It is counted, so that topics nobody waits for any more are forgotten.
type signal struct {
	changed chan struct{}
	waiters int
}

// subscribe gives the signal of a topic. The caller holds the mutex and calls unsubscribe later, without it.
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

// notify wakes everybody who waits for the topic. The caller holds the mutex.
func (s *store) notify(table tableName, name string) {
	t := topic{table, name}
	if sig := s.topic[t]; sig != nil {
		close(sig.changed)
		delete(s.topic, t)
	}
}

// notifyKey wakes those who wait for the key or for any of its prefixes, the key itself and the empty one included.
func (s *store) notifyKey(key string) {
	s.notify(topicKey, key)
	if len(s.topic) == 0 {
		return
	}
	for end := range len(key) + 1 {
		s.notify(topicPrefix, key[:end])
	}
}
