// Package memconsul is an in-process stand-in for a Consul agent. It answers the part of Consul's HTTP API that leader
// elections need, with the same numbers, texts and waits as Consul 1.22: one contract suite runs every case against
// this package and against the real agent.
//
// It implements
//
//   - the key-value store: single keys, recurse, keys with a separator, raw; set, cas, acquire, release, delete;
//   - sessions: create, info, list, node, renew, destroy, expiry at twice the TTL, both behaviors, and their end
//     when a check turns critical, a check, service or node is deregistered;
//   - lock-delay, which belongs to a key's name and is held for at most 60 seconds;
//   - transactions of key-value operations;
//   - the catalog and health endpoints that show a session's checks, and the agent endpoints that set them;
//   - blocking queries, which wake for what they watch and for nothing else.
//
// It does not implement ACLs (every request is allowed, tokens are ignored), raft and its failures, snapshots, more
// than one datacenter, namespaces, the collection of tombstones (which makes indexes fall), checks that the agent
// would run itself (HTTP, TCP and script checks keep the status they are given), checks that follow a session,
// anti-entropy (what is deregistered in the catalog stays so), limits on connections and rates, and filters other than
// comparisons of CheckID. A change of a check's output alone reaches the catalog with the next change of its status,
// where a real agent defers it for minutes. JSON fields that Consul would refuse as unknown are ignored, except in
// transactions.
//
// An [Agent] is an http.Handler and an http.RoundTripper that needs no network, and takes the time from package time
// only, so tests inside a testing/synctest bubble control its clocks. [Start] puts one on a loopback port.
package memconsul
