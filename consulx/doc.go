// Package consulx connects the rest of electop to Consul: a client that is
// configured like Consul's own CLI, an [Operator] that steps leaders down, and
// reads that answer one question ([Doctor], [Survey], [Holdings]).
//
// A session cannot be destroyed conditionally: [Operator.DestroySession] reads
// directly before, but the state may change in between.
package consulx
