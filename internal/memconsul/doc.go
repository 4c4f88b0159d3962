// Package memconsul is an in-process Consul agent. It implements the part of Consul's HTTP API that leader elections
// need, with the same indexes, texts and waits as Consul 1.22: one contract suite runs every case against this package
// and against a real agent.
//
// It implements
//
//   - the key-value store: single keys, recurse, keys with a separator, raw; set, cas, acquire, release, delete;
//   - sessions: create, info, list, node, renew, destroy, expiry at twice the TTL, both behaviors, and invalidation
//     when a check turns critical, or a check, service or node is deregistered;
//   - lock-delay, which is bound to a key's name and lasts at most 60 seconds;
//   - transactions of key-value operations;
//   - the catalog and health endpoints for a session's checks, and the agent endpoints that set them;
//   - blocking queries, which wake only for changes of what they watch.
//
// It does not implement ACLs (every request is allowed, tokens are ignored), Raft and its failures, snapshots, more
// than one datacenter, namespaces, the collection of tombstones (which makes indexes fall), running checks (HTTP, TCP
// and script checks keep the status that they are given), checks that follow a session, anti-entropy (an object that
// is deregistered in the catalog is not registered again), limits on connections and rates, and filters other than
// comparisons of CheckID. A change of only a check's output reaches the catalog with the next change of its status; a
// real agent delays it by minutes. Unknown JSON fields, which Consul rejects, are ignored, except in transactions.
//
// An [Agent] is an http.Handler and an http.RoundTripper that needs no network. It reads the time only from package
// time, so a testing/synctest bubble controls its clocks. [Start] serves one on a loopback port.
package memconsul
