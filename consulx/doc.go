// Package consulx is electop's way to Consul: a client set up as Consul's own
// CLI sets up its own, an [Observer] that turns blocking queries into the
// observations of package election, an [Operator] that steps leaders down, and
// a [Candidate] that stands for election.
//
// What is not guaranteed:
//
//   - An observer sees states, not moves: changes between two answers of Consul
//     coalesce.
//   - A session can't be destroyed conditionally. [Operator.DestroySession]
//     looks right before; the world may still move in between.
//   - A [Leadership] is not a fencing token. A leader that is paused learns
//     that it lost only when it runs again.
package consulx
