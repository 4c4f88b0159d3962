// Package source joins several stores of elections into one, so that the dashboard observes and changes all of them.
// It does not depend on Consul: a Consul datacenter is one kind of [Source].
package source

import (
	"context"

	"electop/election"
	"electop/election/insight"
)

// Source is a store in which elections are held, such as the KV store of one Consul datacenter.
type Source interface {
	// Datacenter is the name of the source. The elections, events and targets of the source contain this name.
	Datacenter() string
	// Snapshots delivers the observed state, which includes the state of the connection. The source closes the channel
	// when it ends.
	Snapshots() <-chan *election.Snapshot
	// WatchChecks, Study and WatchSessions select what the snapshots contain in addition to elections: the health checks
	// of nodes, the surroundings of the election with this key ("" selects no election), and the list of sessions.
	// SetPatterns selects the elections. These methods do not block.
	WatchChecks(nodes []string)
	Study(key string)
	WatchSessions(on bool)
	SetPatterns(ps election.Patterns)
	// Release and DestroySession are an operator's operations on a hold, and Rights are the permissions for them. If the
	// hold in the target has changed, an action does nothing.
	Release(ctx context.Context, t election.Target) insight.Outcome
	DestroySession(ctx context.Context, d election.Destroy) insight.Outcome
	Rights(ctx context.Context, t election.Target) (election.Rights, error)
	// Survey reads the surroundings of elections once.
	Survey(ctx context.Context, keys []string) []election.Surroundings
	// Holdings searches the store for keys that sessions hold. complete is false if some keys cannot be read.
	Holdings(ctx context.Context, sessions []string, progress func(done, total int)) (keys []election.Pair, complete bool, err error)
}
