// Package memconsul is an in-process Consul agent. It implements the part of Consul's HTTP API that leader elections
// need, with the same indexes, messages and waits as Consul 1.22. One contract test suite runs every case against this
// package and against a real agent.
//
// It implements
//
//   - the key-value store: single keys, recurse, keys with a separator, raw; set, cas, acquire, release, delete;
//   - sessions: create, info, list, node, renew, destroy, expiry at twice the TTL, both behaviors, and invalidation
//     when a check becomes critical, or when a check, service or node is deregistered;
//   - lock-delay, which is bound to a key's name and lasts at most 60 seconds;
//   - transactions of key-value operations;
//   - the catalog and health endpoints for a session's checks, and the agent endpoints that set them;
//   - blocking queries, which return early only after a change of the requested objects.
//
// It does not implement
//
//   - ACLs: every request is allowed, and tokens are ignored;
//   - Raft and its failures, snapshots, several datacenters, namespaces, and limits on connections and rates;
//   - the garbage collection of tombstones, which can decrease indexes;
//   - running checks: HTTP, TCP and script checks keep the status that a client sets;
//   - checks of type session;
//   - anti-entropy: an object that is deregistered in the catalog is not registered again;
//   - filters other than comparisons of CheckID.
//
// If only the output of a check changes, the catalog receives the output with the next change of the check's status; a
// real agent sends it after some minutes. Unknown JSON fields, which Consul rejects, are ignored, except in
// transactions.
//
// An [Agent] is an http.Handler and an http.RoundTripper that needs no network. The package reads the time only from
// package time, so a testing/synctest bubble controls its clocks. [Start] serves an agent on a loopback port.
package memconsul
