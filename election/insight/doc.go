// Package insight infers what Consul does not record from the facts of package
// election: why an election has no leader, which sessions are likely candidates,
// which software holds the key, the risks of its configuration, and the effects and
// outcomes of actions.
//
// The package is pure: it does no I/O, and time is a parameter. What it infers may
// be wrong, so its texts say "likely" where Raft indexes do not prove a statement.
package insight
