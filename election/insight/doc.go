// Package insight infers what Consul does not record from the facts of package election: why an election has no
// leader, which sessions are likely candidates, which software holds the key, the risks of its configuration, and the
// effects and outcomes of actions. The package is pure: it does no I/O, and time is a parameter. Its inferences may
// be wrong, so its texts contain "likely" unless Raft indexes prove a statement.
package insight
