package cli

import (
	"context"

	"electop/election"
	"electop/internal/feed"
	"electop/ui/kit"
	"electop/ui/pages"
)

// store is a cluster whose elections a command reads, such as one datacenter of Consul.
type store interface {
	// Datacenter is the configured name, which is that of the context if there are several, or "" if the cluster names itself.
	Datacenter() string
	Address() string
	// Cluster returns what identifies the cluster in a history, or "" if it is unknown.
	Cluster(ctx context.Context) string
	// Flags are the flags with which other commands connect; see [shell.Cluster].
	Flags() [][2]string
	Redact(text string) string
	Close()
	// Consistently returns the same store with consistent reads only.
	Consistently() store

	// Patterns parses patterns. If none selects keys, it adds the default.
	Patterns(texts []string) (election.Patterns, error)

	Observer(o feed.Options) observer
	// Operator returns what acts. note, if not nil, receives every action.
	Operator(note func(election.OperatorAction)) operator

	// Once reads the elections of the patterns once, and adds those of a history.
	Once(ctx context.Context, ps election.Patterns, past election.HistoryRead) (*election.Snapshot, error)
	// ReadKey returns nil if the key does not exist.
	ReadKey(ctx context.Context, key string) (*election.Pair, error)
	Sessions(ctx context.Context) ([]*election.Session, error)
	// Session reads one session. It fails with ErrDenied if the user may not read it, and with ErrNoSession if there is
	// no session with this ID.
	Session(ctx context.Context, id string) (*election.Session, error)
	Checks(ctx context.Context, nodes []string) map[string]election.NodeChecks
	Survey(ctx context.Context, keys []string) []election.Surroundings
	Holdings(ctx context.Context, sessions []string, progress kit.Progress) ([]election.Pair, error)
	// Discover searches the keys under a prefix for locks.
	Discover(ctx context.Context, prefix string, ps election.Patterns, progress kit.Progress) (pages.Found, error)
	// Doctor checks what the credentials can read and do.
	Doctor(ctx context.Context, ps election.Patterns) diagnosis
}

// observer observes the elections of a store; see [feed.Feed].
type observer interface {
	Run(ctx context.Context)
	Snapshots() <-chan *election.Snapshot
	Snapshot() *election.Snapshot
	Note(a election.OperatorAction)
	Mark()
	Patterns() election.Patterns
	SetPatterns(ps election.Patterns)
	WatchChecks(nodes []string)
	Study(key string)
	WatchSessions(on bool)
}

// operator ends terms in a store.
type operator interface {
	Release(ctx context.Context, t election.Target) error
	DestroySession(ctx context.Context, d election.Destroy) error
	Rights(ctx context.Context, t election.Target) (election.MissingRules, error)
}

// diagnosis is what a doctor found.
type diagnosis struct {
	report any // for JSON
	rows   []pages.Check
	exit   int
	err    error // after which nothing more was found
}
