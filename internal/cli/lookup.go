package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/shell"
)

// readTimeout bounds the reads of etcd, and all reads of a long list. Consul's client bounds each of its requests.
const readTimeout = 30 * time.Second

// lookup is a datacenter of a command: its store, and the elections read from it. It finds elections by name in the
// snapshot, and explains why it finds none.
type lookup struct {
	*options
	store
	of       clusterFlags
	patterns election.Patterns
	snapshot *election.Snapshot // nil until read
	// where is the part of each warning that names the datacenter. It is empty if there is only one datacenter.
	where string
}

// cluster returns the settings with which a command connects to the store and to the history.
func (l lookup) cluster() shell.Cluster {
	c := shell.Cluster{
		Flags: l.Flags(), Foreign: l.client() == nil, Context: l.of.context,
		Own: [][2]string{{"history", l.history}, {"history-token-file", l.historyTokenFile}, {"history-ca-file", l.historyCAFile}},
	}
	if common, _ := l.Patterns(nil); !slices.Equal(common.Strings(), l.patterns.Strings()) {
		for _, p := range l.patterns {
			c.Own = append(c.Own, [2]string{"key", p.String()})
		}
	}
	return c
}

// paste adds the flags of the cluster to the commands of Consul in a text.
func (l lookup) paste(text string) string {
	return l.cluster().Pasteable(text, l.snapshot.Datacenter)
}

// pasteable adds the flags to the commands in a finding, if there is one.
func (l lookup) pasteable(f *insight.Finding) {
	if f != nil {
		f.Do, f.Fix = l.paste(f.Do), l.paste(f.Fix)
	}
}

// client returns the client of a command that only Consul has, or nil for another store.
func (l lookup) client() *consulx.Client {
	c, _ := l.store.(consul)
	return c.Client
}

// fail adds the name of the datacenter to an error if there are several datacenters.
func (l lookup) fail(err error) error { return fmt.Errorf("%s%w", l.where, err) }

// warn is [deps.warn] with the name of the datacenter if there are several.
func (l lookup) warn(line string) { l.options.warn(l.where + line) }

// read reads all elections of the datacenter once. With past, it adds their recorded history, and elections whose key
// was deleted.
func (l *lookup) read(ctx context.Context, past bool) (err error) {
	debug.SetGCPercent(startGCPercent)
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var recorded election.HistoryRead
	if past {
		recorded = l.past(ctx, l.warn)
	}
	l.snapshot, err = l.Once(ctx, l.patterns, recorded)
	return err
}

// past reads the recorded history of the elections, or nothing without a history.
func (l lookup) past(ctx context.Context, warn func(line string)) (recorded election.HistoryRead) {
	if source := l.historySource(l); source != nil {
		defer source.Close()
		recorded = l.recall(ctx, source, time.Now(), warn)
	}
	return recorded
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
	switch {
	case len(found) == 0:
		hint := ""
		if s.Filtered {
			hint = " (keys may be hidden: this token cannot read all of them)"
		}
		return nil, fmt.Errorf("%w: %s%s", errNoElection, clean(name), hint)
	case !slices.ContainsFunc(found, func(e *election.Election) bool { return e.Key() != found[0].Key() }): // a history may have several names
		return found[0], nil
	}
	keys := election.Map(found, func(e *election.Election) string { return clean(e.Key()) })
	return nil, usagef("%q is ambiguous; use one of the keys: %s", clean(name), strings.Join(keys, ", "))
}

// warnMissing warns that there are no elections, or that some may be missing.
func (l lookup) warnMissing() {
	switch {
	case l.snapshot.Filtered:
		l.warn("this token cannot read all keys: elections may be missing; electop doctor shows the missing ACL rules")
	case len(l.snapshot.Elections) == 0:
		l.warn("no key matches " + sanitize.Line(strings.Join(l.patterns.Strings(), ", "), 1000) + "; electop discover lists the locks of the store, electop doctor what can be read")
	}
}

// warnSilent warns if Consul may hide keys without reporting it. hidden is set if the snapshot may lack elections.
func (l lookup) warnSilent(ctx context.Context) (hidden bool, err error) {
	if l.snapshot.Filtered { // another warning has already reported the hidden keys
		return true, nil
	}
	hidden, err = l.client().OmitsSilently(ctx)
	if hidden {
		l.warn("without a token, Consul does not report hidden keys: elections may be missing")
	}
	return hidden, err
}

// explainError distinguishes an election that the token cannot read from one that
// does not exist.
func (l lookup) explainError(ctx context.Context, name string, err error) error {
	if !errors.Is(err, errNoElection) {
		return err
	}
	if key, ok := l.patterns.Key(name); ok {
		// If this read fails, err still contains the hint from the snapshot.
		if _, readErr := l.ReadKey(ctx, key); consulx.LacksRule(readErr) {
			return fmt.Errorf("%w: this token cannot read %s; see electop doctor", election.ErrDenied, clean(key))
		}
	}
	key := strings.TrimPrefix(name, "/")
	if pair, _ := l.ReadKey(ctx, key); pair != nil {
		return fmt.Errorf("%w: the key exists, but the patterns do not select it; use %s", err, shellWords([]string{"-k", clean(key)}))
	}
	if len(l.snapshot.Elections) == 0 {
		l.warnMissing()
	}
	return err
}

// progress writes on a terminal that the KV store is searched.
func (l lookup) progress(done, total int) {
	if l.interactive && done == 0 {
		fmt.Fprintf(l.stderr, "  %ssearching %s (ctrl-c stops)\n", l.where, election.Plural(total, "key"))
	}
}
