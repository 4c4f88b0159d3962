package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
)

const (
	// readTimeout bounds all reads of a command that reads from Consul only once.
	readTimeout = 30 * time.Second
	// connectTimeout bounds the wait for the first complete snapshot. If it expires, the command fails, because the
	// address is probably wrong. Later failures are reported as events.
	connectTimeout = 10 * time.Second
)

// lookup is a datacenter of a command. It finds elections by name in the snapshot, and explains why it finds none.
type lookup struct {
	stderr   io.Writer
	client   *consulx.Client
	config   consulx.Config // of client
	patterns election.Patterns
	snapshot *election.Snapshot // nil until read
	// where is the part of each warning that names the datacenter. It is empty if there is only one datacenter.
	where string
}

// connect returns another client for the datacenter. The caller closes it.
func (l lookup) connect() (*consulx.Client, error) { return consulx.NewClient(l.config) }

// fail adds the name of the datacenter to an error if there are several datacenters.
func (l lookup) fail(err error) error {
	if l.where == "" {
		return err
	}
	return fmt.Errorf("%s%w", l.where, err)
}

func (l lookup) warn(format string, args ...any) {
	fmt.Fprintln(l.stderr, "electop: "+l.where+sanitize.Line(fmt.Sprintf(format, args...), 1000))
}

// pastReader reads the recorded history of the elections of one datacenter.
type pastReader func(context.Context, *consulx.Client) election.HistoryRead

// recorded returns the function that reads the history that --history selects.
func (o *options) recorded(d deps) pastReader {
	return func(ctx context.Context, client *consulx.Client) election.HistoryRead {
		source := o.historySource(client)
		if source == nil {
			return election.HistoryRead{}
		}
		defer source.Close()
		return recall(ctx, source, d.warn)
	}
}

// read reads all elections of the datacenter once. With past, it adds their recorded history, and elections whose key
// was deleted.
func (l *lookup) read(ctx context.Context, past pastReader) (err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var recorded election.HistoryRead
	if past != nil {
		recorded = past(ctx, l.client)
	}
	l.snapshot, err = observe.OnceAfter(ctx, l.client, l.patterns, recorded)
	return err
}

// readExisting is like read, but omits elections whose key was deleted.
func (l *lookup) readExisting(ctx context.Context, past pastReader) error {
	err := l.read(ctx, past)
	if err == nil {
		l.snapshot.Elections = slices.DeleteFunc(slices.Clone(l.snapshot.Elections), func(e *election.Election) bool { return !e.Exists })
	}
	return err
}

// awaitSnapshot waits for the first complete snapshot of an observer, so that the command reports a wrong address or
// token immediately.
func awaitSnapshot(
	ctx context.Context, client *consulx.Client, ps election.Patterns, snapshots <-chan *election.Snapshot,
) (*election.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for {
		select {
		case s := <-snapshots:
			if s == nil {
				return nil, context.Canceled
			}
			if s.Loaded {
				return s, nil
			}
			if s.Connection.State != election.Lost && len(s.Connection.Stale) == 0 {
				continue
			}
		case <-ctx.Done():
		}
		// A snapshot has only the text of an error; this read returns the error itself, which determines the exit
		// code.
		if _, err := observe.Once(ctx, client, ps); err != nil {
			return nil, err
		}
	}
}

// elections returns the elections with these names, or all elections if there are no names.
func (l lookup) elections(ctx context.Context, names []string) ([]*election.Election, error) {
	if len(names) == 0 {
		l.warnMissing(ctx)
		return l.snapshot.Elections, nil
	}
	found := make([]*election.Election, 0, len(names))
	for _, name := range names {
		e, err := l.election(ctx, name)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// election returns the one election with this name.
func (l lookup) election(ctx context.Context, name string) (*election.Election, error) {
	e, err := findElection(l.snapshot, name)
	if err != nil {
		return nil, l.explainError(ctx, err)
	}
	return e, nil
}

// findElection returns the one election that has the name or the full key, with or
// without a leading "/".
func findElection(s *election.Snapshot, name string) (*election.Election, error) {
	if strings.TrimPrefix(name, "/") == "" {
		return nil, usagef("NAME is empty")
	}
	found := s.Named(name)
	if len(found) == 0 {
		found = s.Named(strings.TrimPrefix(name, "/"))
	}
	switch len(found) {
	case 0:
		return nil, notFound(s, name)
	case 1:
		return found[0], nil
	}
	keys := make([]string, len(found))
	for i, e := range found {
		keys[i] = sanitize.Line(e.Key(), 200)
	}
	return nil, usagef("%q is ambiguous; use one of the keys: %s", sanitize.Line(name, 100), strings.Join(keys, ", "))
}
