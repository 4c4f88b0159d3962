package cli

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"electop/consulx"
	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
)

const (
	historyOff         = "off"
	defaultHistoryText = "$XDG_STATE_HOME/electop/ADDRESS.db"
	// recallTimeout bounds the read of the history when a command begins.
	recallTimeout = 2 * time.Second
	// identityTimeout bounds the read of the identity of a cluster whose history is read.
	identityTimeout = 500 * time.Millisecond
)

// keepFlag is the value of --keep, a duration in Go's format or in days. Its age is nil until the flag is set.
type keepFlag struct {
	text string
	age  *time.Duration
}

func (k *keepFlag) String() string { return k.text }

func (*keepFlag) Type() string { return "duration" }

func (k *keepFlag) Set(text string) error {
	age, err := election.ParseDays(text)
	k.text, k.age = text, &age
	return err
}

// historyPath returns the file of the history. It returns "" if the history is off or a recorder stores it.
func (o *options) historyPath(s store) (string, error) {
	switch {
	case o.history == historyOff, isURL(o.history):
		return "", nil
	case o.history != "":
		return o.history, nil
	case o.contexts != nil:
		return defaultFile(o.context)
	}
	return defaultPath(s, s.Address())
}

// defaultPath returns the default file of an agent or a cluster.
func defaultPath(s store, name string) (string, error) {
	for _, f := range s.Flags() {
		if f[1] != "" && (f[0] == "partition" || f[0] == "namespace") {
			name += "," + f[1]
		}
	}
	return defaultFile(name)
}

// defaultFile returns the default file of an address, or of one followed by the partition and the namespace.
func defaultFile(name string) (string, error) {
	folder, err := stateFolder()
	return filepath.Join(folder, url.PathEscape(name)+".db"), err
}

// stateFolder returns electop's folder in the XDG state folder.
func stateFolder() (string, error) {
	return userFolder("XDG_STATE_HOME", func() (string, error) {
		home, err := os.UserHomeDir()
		return filepath.Join(home, ".local", "state"), err
	})
}

// share makes the default file of an agent, unless it exists, a link to the file of the cluster, which all its agents share.
func (o *options) share(s store, cluster func() string) {
	path, err := o.historyPath(s)
	if _, missing := os.Lstat(path); err != nil || missing == nil || o.history != "" || o.contexts != nil {
		return
	}
	if id := cluster(); id != "" {
		shared, _ := defaultPath(s, id)
		_ = os.MkdirAll(filepath.Dir(path), 0o700) // without the link, this agent has a file of its own
		_ = os.Symlink(filepath.Base(shared), path)
	}
}

// learnPatterns selects the keys that the recorder of --history observes, unless -k or --preset selects keys.
func (o *options) learnPatterns(s store) {
	recorder, err := o.historyClient(lookup{store: s})
	if !o.unlearned() || err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recallTimeout)
	defer cancel()
	defer recorder.Close()
	observed, _ := recorder.Observations(ctx, history.Range{Since: time.Now().Add(-history.AliveWithin)}) // another read reports the error
	for _, one := range observed {
		if one.Lasting {
			o.patterns = election.Union(o.patterns, one.Patterns...)
		}
	}
	if o.unlearned() {
		o.warn("the keys that the recorder observes are unknown, so electop reads the default keys")
	}
}

// unlearned reports whether the recorder of --history selects the keys and did not say which.
func (o *options) unlearned() bool { return isURL(o.history) && !o.selectsKeys() }

// identity returns a function that identifies a cluster before its history is opened, so that the screen does not wait for
// it. A history of several contexts has one identity for each of them.
func (o *options) identity(s store) func(context.Context) string {
	return func(ctx context.Context) string {
		id := s.Cluster(ctx)
		o.share(s, func() string { return id })
		if o.contexts != nil && id != "" {
			id = s.Datacenter() + "=" + id
		}
		return id
	}
}

// identities returns functions that identify clusters, but wait only for a short time: while a store is unreachable, its
// history is shown.
func (o *options) identities(of []lookup) (all []func(context.Context) string) {
	for _, l := range of {
		all = append(all, func(ctx context.Context) string {
			ctx, cancel := context.WithTimeout(ctx, identityTimeout)
			defer cancel()
			return o.identity(l.store)(ctx)
		})
	}
	return all
}

// historySource returns the history of clusters for reading. It returns nil if the history is off or cannot be used.
func (o *options) historySource(of ...lookup) history.Source {
	if isURL(o.history) {
		if recorder, err := o.historyClient(of...); err == nil {
			return recorder
		}
		return nil
	}
	path, err := o.historyPath(of[0].store)
	if err != nil || path == "" {
		return nil
	}
	return sqlite.NewFile(path, o.identities(of)...)
}

// recall reads the recorded history of the elections, with the flags that writes without the lock replaced. It warns if the
// read fails.
func (d deps) recall(ctx context.Context, source history.Source, at time.Time, warn func(line string)) election.HistoryRead {
	ctx, cancel := context.WithTimeout(ctx, d.within(recallTimeout))
	defer cancel()
	past, err := history.Recall(ctx, source, at)
	if err != nil && !errors.Is(err, context.Canceled) {
		warn(historyError(err) + "; events before electop started are unknown")
	}
	const most = 1000 // overwritten keys are rare
	page, _ := source.Events(ctx, history.EventQuery{Types: []election.EventType{election.Overwritten}, Limit: most})
	known := election.Snapshot{Elections: past.Elections}
	for _, v := range slices.Backward(page.Items) {
		if e := known.Find(v.ElectionID()); e != nil {
			e.Events = append(e.Events, election.Event{Type: v.Type, CreateIndex: v.CreateIndex, ModifyIndex: v.ModifyIndex, Evidence: v.Evidence})
		}
	}
	return past
}

// openHistory opens the history of --history for reading.
func (o *options) openHistory(ctx context.Context) (history.Source, error) {
	switch {
	case o.history == historyOff:
		return nil, usagef("--history off: this command reads the history; use --history FILE or --history URL")
	case isURL(o.history):
		return o.historyClient()
	}
	s, err := o.openStore(o.clusterFlags) // only for its address: a history contains all datacenters
	if err != nil && o.history == "" {
		return nil, err
	}
	path, err := o.historyPath(s)
	if err != nil {
		return nil, err
	}
	o.share(s, func() string {
		ctx, cancel := context.WithTimeout(ctx, recallTimeout)
		defer cancel()
		return s.Cluster(ctx)
	})
	f := sqlite.NewFile(path)
	if err = f.Open(ctx); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("no history in " + clean(path) + "; electop, electop watch and electop record write it")
	}
	return f, err
}

// periodFlags adds --since and --until.
func periodFlags(f *pflag.FlagSet, r *history.Range) {
	now := time.Now()
	r.Since, r.Until = now.Add(-24*time.Hour), now
	moment := func(into *time.Time) func(string) error {
		return func(text string) (err error) {
			*into, err = election.ParseMoment(text, now)
			return err
		}
	}
	f.Func("since", "beginning: a `TIME`, or a duration before now (default 24h)", moment(&r.Since))
	f.Func("until", "end: a `TIME`, or a duration before now (default now)", moment(&r.Until))
}

// selectHistory opens the history, and selects the elections with these names that match -k. The caller closes the
// history.
func (o *options) selectHistory(ctx context.Context, r history.Range, names []string) (f history.Source, filter history.Filter, err error) {
	if filter.Range = r; !r.Since.Before(r.Until) {
		return nil, filter, usagef("--since %s is not before --until %s", localTime(r.Since), localTime(r.Until))
	}
	if f, err = o.openHistory(ctx); err != nil {
		return nil, filter, err
	}
	if filter.Datacenters = o.chosenDatacenters(); o.context != "" && o.consul.Datacenter == "" {
		contexts := strings.Split(o.context, ",")
		observed, _ := f.Observations(ctx, history.Range{Since: filter.Since.AddDate(0, -1, 0), Until: filter.Until}) // another read reports the error
		if slices.ContainsFunc(observed, func(o history.Observation) bool { return slices.Contains(contexts, o.Datacenter) }) {
			filter.Datacenters = contexts // this is the history of several contexts
		}
	}
	if filter.Names, err = o.historyKeys(ctx, f, names); err != nil {
		err = errors.Join(err, f.Close())
	}
	return f, filter, err
}

// historyKeys returns the keys of the elections that match -k and have one of these names. Without -k and names, it
// returns nil, which selects all elections.
func (o *options) historyKeys(ctx context.Context, f history.Source, names []string) (keys []string, err error) {
	if len(names) == 0 && !o.selectsKeys() {
		return nil, nil
	}
	s, _ := o.openStore(o.clusterFlags) // only for its patterns
	ps, err := o.parsePatterns(s)
	if err != nil {
		return nil, err
	}
	all, err := f.Elections(ctx)
	if err != nil {
		return nil, err
	}
	known := &election.Snapshot{}
	rooted := ps.Rooted() // for the keys of etcd beside those of Consul
	for _, e := range all {
		_, matches := ps.Match(e.Key)
		if _, also := rooted.Match(e.Key); matches || also || !o.selectsKeys() {
			known.Elections, keys = append(known.Elections, &election.Election{Name: e.Name, Pair: election.Pair{Key: e.Key}}), append(keys, e.Key)
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%w in the history yet; electop, electop watch and electop record observe elections", errNoElection)
	case len(names) > 0:
		keys = nil
	case len(keys) == 0:
		return nil, fmt.Errorf("history: %w matches %s", errNoElection, clean(strings.Join(slices.Concat(o.patterns, o.presets), ", ")))
	}
	for _, name := range names {
		e, err := findElection(known, name)
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		keys = append(keys, e.Key())
	}
	return keys, nil
}

// historyTokenEnv is the environment variable with the token for the URL of --history. --history-token-file overrides
// it.
const historyTokenEnv = "ELECTOP_HISTORY_TOKEN"

// isURL reports whether a value of --history is the URL of a recorder.
func isURL(value string) bool { return strings.Contains(value, "://") }

// historyClient returns the client of the recorder at the URL of --history, which must be that of the clusters. It sends
// no request.
func (o *options) historyClient(of ...lookup) (c *web.Client, err error) {
	token := strings.TrimSpace(os.Getenv(historyTokenEnv))
	if o.historyTokenFile != "" {
		if token, err = readToken(o.historyTokenFile); err != nil {
			return nil, fmt.Errorf("--history-token-file: %w", err)
		}
	}
	var roots *x509.CertPool
	if o.historyCAFile != "" {
		text, err := os.ReadFile(o.historyCAFile)
		if err != nil {
			return nil, fmt.Errorf("--history-ca-file: %w", err)
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(text) {
			return nil, errors.New("--history-ca-file: the file contains no PEM certificate")
		}
	}
	o.hide(token)
	return web.NewClient(web.ClientOptions{URL: o.history, Token: token, CAs: roots, Clusters: o.identities(of)})
}

// readToken reads a token from a file and removes the white space around it.
func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return "", errors.New("the file is empty")
	}
	return string(text), nil
}

// checkHistoryURL rejects an invalid URL, and warns if other hosts could read the token and the history on the network.
// [historyFlag.Set] does not check the URL, because pflag would repeat the value, which may contain a password.
func (o *options) checkHistoryURL() error {
	if !isURL(o.history) {
		return nil
	}
	u, err := web.ParseURL(o.history)
	if err != nil {
		return usagef("--history: %v", err)
	}
	if u.Scheme == "http" && !web.Loopback(u.Hostname()) {
		o.warn("warning: --history uses http, so the token and the history are not encrypted; use https")
	}
	return nil
}

const (
	// historyEvery is the time between two checks of the history while the dashboard is open.
	historyEvery = 5 * time.Second
	// recorderTimeout bounds a check.
	recorderTimeout = 5 * time.Second
)

// watchHistory calls check periodically until ctx ends. It sends each returned line that differs from the last line
// sent. An empty line means that the history can be used.
func watchHistory(ctx context.Context, check func(context.Context) string, lines chan<- string) {
	for shown := ""; ctx.Err() == nil; consulx.Sleep(ctx, historyEvery) {
		if line := check(ctx); line != shown && ctx.Err() == nil {
			select {
			case lines <- line:
				shown = line
			case <-ctx.Done():
			}
		}
	}
}

// checkRecorder returns why the recorder cannot be used. It returns "" if the recorder can be used.
func checkRecorder(ctx context.Context, source history.Source) string {
	ctx, cancel := context.WithTimeout(ctx, recorderTimeout)
	defer cancel()
	recent, err := source.Observations(ctx, history.Range{Since: time.Now().Add(-time.Hour)})
	switch {
	case err != nil:
		return historyError(err)
	case !slices.ContainsFunc(recent, func(o history.Observation) bool { return o.Lasting }):
		return "history: the recorder does not observe elections at present"
	}
	return ""
}
