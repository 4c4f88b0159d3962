package ui

import (
	"context"
	"time"

	"electop/election"
	"electop/ui/internal/results"
)

// Options are what the dashboard is told when it starts.
type Options struct {
	// Snapshots delivers what is known of the elections. The newest wins: a
	// slow screen passes over older ones. A closed channel ends the updates.
	Snapshots <-chan *election.Snapshot
	// Operator carries out release and destroy. When it is nil, or ReadOnly is
	// set, r and x say why they do nothing.
	Operator Operator
	ReadOnly bool
	// Address is where Consul is asked; it is shown in the header and the
	// window's title. It must not hold a token.
	Address string
	// Title is the window's title, "electop · Address" when empty.
	Title string
	// Patterns tell which keys are watched, for the header and for the screen
	// that is shown when nothing matches.
	Patterns []string
	// ASCII draws with ASCII characters only.
	ASCII bool
	// Demo, when not empty, marks the dashboard as a demonstration and says in
	// one line what happens in it.
	Demo string
	// WatchChecks is called with the nodes whose health checks are worth watching,
	// most wanted first (the selected election's and those of the visible rows) whenever
	// that set changes. It runs on the event loop and must return at once.
	WatchChecks func(nodes []string)
	// Study is called with the key of the election that is looked at whenever
	// that changes, "" when none is; [election.Snapshot.Surroundings] of it are
	// then of use. It runs on the event loop and must return at once.
	Study func(key string)
	// WatchSessions is called when the view of all sessions opens and closes;
	// while it is on, snapshots should carry [election.Snapshot.SessionList]. It
	// runs on the event loop and must return at once.
	WatchSessions func(on bool)
	// Rights asks what the token may do to a hold, or to a session when the
	// target has no key. It is called off the event loop.
	Rights func(ctx context.Context, t election.Target) (election.Rights, error)
	// Holdings searches the whole KV store once for the keys that any of the
	// sessions holds, until ctx ends; each key comes with its Session, and an
	// error may come with what was found. complete is false when the token may not read all keys. It is called off the event loop, and
	// may call progress from any goroutine until it returns.
	Holdings func(ctx context.Context, sessions []string, progress func(done, total int)) (keys []election.Pair, complete bool, err error)
	// Survey reads once what stands around the elections with these keys, in their
	// order; what could not be read is part of the answer. A dialog calls it, off the
	// event loop, and does not act before the answer.
	Survey func(ctx context.Context, keys []string) []election.Surroundings
	// Suspend asks for the process to be stopped until the user continues it. The
	// request comes back through Interludes, as does one from outside. When it is
	// nil Bubble Tea suspends the process itself.
	Suspend func()
	// Interludes waits for the next function that needs the terminal as it was
	// before the dashboard, or nil to draw the whole screen anew. It returns false
	// when ctx ends. It is called off the event loop.
	Interludes func(ctx context.Context) (run func(), more bool)
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Operator carries out what was confirmed in a dialog.
type Operator = results.Operator
