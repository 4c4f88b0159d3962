package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/crash"
	"electop/internal/redact"
	"electop/internal/source"
)

// allDatacenters is the value of --datacenter that selects every datacenter that the agent lists.
const allDatacenters = "all"

// opened holds the clients that a command opens, and closes them at its end. It knows the secrets of the command.
type opened struct {
	stores  []store
	mu      sync.Mutex // of secrets
	secrets []string
}

// openStore opens a cluster of etcd if its endpoints are given, and otherwise a datacenter of Consul. It sends no request.
func (o *options) openStore(of clusterFlags) (s store, err error) {
	if of.etcd.endpoints != "" {
		s, err = newEtcd(of.etcd)
	} else {
		var client *consulx.Client
		client, err = consulx.NewClient(of.consul)
		s = consul{client}
	}
	if err == nil {
		o.stores = append(o.stores, s)
	}
	return s, err
}

// hide adds a secret that no client of Consul has.
func (o *opened) hide(secret string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.secrets = election.Union(o.secrets, secret)
}

// redact replaces the secrets of the command in text, such as a crash report.
func (o *opened) redact(text string) string {
	for _, s := range o.stores {
		text = s.Redact(text)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return redact.New(o.secrets...).Redact(text)
}

// close closes the clients.
func (o *opened) close() {
	for _, s := range o.stores {
		s.Close()
	}
}

// openOne opens the cluster of a command that works in one. It sends no request. A flag that selects several clusters is
// a usage error.
func (o *options) openOne() (lookup, error) {
	switch {
	case o.contexts != nil:
		return lookup{}, usagef("--context %s: this command works in one context; name one", o.context)
	case severalDatacenters(o.consul):
		return lookup{}, usagef("--datacenter %s: this command works in one datacenter; name one", sanitize.Line(o.consul.Datacenter, 80))
	}
	ls, err := o.openEach("", o.clusterFlags)
	if err != nil {
		return lookup{}, err
	}
	return ls.all[0], nil
}

// open opens each cluster of --context or --datacenter. It sends a request only to read the names of all datacenters.
func (o *options) open(ctx context.Context) (lookups, error) {
	switch {
	case o.contexts != nil && o.consul.Datacenter != "":
		return lookups{}, usagef("--datacenter and several contexts are mutually exclusive")
	case o.contexts != nil:
		return o.openEach("context", o.contexts...)
	case !severalDatacenters(o.consul):
		return o.openEach("", o.clusterFlags)
	}
	names, err := o.datacenterNames(ctx)
	least := len(names) * consulx.LeastConnections
	switch {
	case err != nil:
		return lookups{}, err
	case least > o.consul.MaxConnections:
		return lookups{}, usagef("--datacenter %s: %d datacenters need --max-watches %d or more, and it is at most %d", sanitize.Line(o.consul.Datacenter, 80), len(names), least, maxMaxWatches)
	}
	all := make([]clusterFlags, len(names))
	for i, name := range names {
		all[i] = o.clusterFlags
		all[i].consul.Datacenter, all[i].consul.MaxConnections = name, o.consul.MaxConnections/len(names)
	}
	return o.openEach("datacenter", all...)
}

// openEach opens a client for each cluster. kind is what names the clusters, or "" for one cluster.
func (o *options) openEach(kind string, all ...clusterFlags) (ls lookups, err error) {
	ls.kind = kind
	for _, of := range all {
		s, err := o.openStore(of)
		if err != nil {
			return lookups{}, err
		}
		if o.contexts == nil {
			if ls.all == nil {
				o.learnPatterns(s)
			}
			of.patterns = o.patterns
		}
		ps, err := of.parsePatterns(s)
		if err != nil {
			return lookups{}, err
		}
		l := lookup{options: o, store: s, of: of, patterns: ps}
		if ls.several() {
			l.where = kind + " " + clean(s.Datacenter()) + ": "
		}
		ls.all = append(ls.all, l)
	}
	return ls, nil
}

// severalDatacenters reports whether --datacenter may select more than one datacenter.
func severalDatacenters(c consulx.Config) bool {
	return c.Datacenter == allDatacenters || strings.Contains(c.Datacenter, ",")
}

// chosenDatacenters returns the names of --datacenter without duplicates and without contacting Consul, or nil for all
// datacenters.
func (o *options) chosenDatacenters() []string {
	if o.consul.Datacenter == "" || o.consul.Datacenter == allDatacenters {
		return nil
	}
	return election.Union(nil, election.Map(strings.Split(o.consul.Datacenter, ","), strings.TrimSpace)...)
}

// datacenterNames returns the names of the selected datacenters.
func (o *options) datacenterNames(ctx context.Context) ([]string, error) {
	if names := o.chosenDatacenters(); names != nil {
		if slices.Contains(names, "") || slices.Contains(names, allDatacenters) {
			return nil, usagef("--datacenter %q: must be all, or names separated by commas", sanitize.Line(o.consul.Datacenter, 80))
		}
		return names, nil
	}
	own := o.clusterFlags
	own.consul.Datacenter = ""
	s, err := o.openStore(own)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	names, err := lookup{store: s}.client().Datacenters(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--datacenter all: %w", err)
	case len(names) == 0:
		return nil, errors.New("--datacenter all: the response from the agent contains no datacenters")
	}
	slices.Sort(names)
	return names, nil
}

// lookups are the datacenters of a command.
type lookups struct {
	all  []lookup // without the datacenters that could not be read
	kind string   // context or datacenter, if this flag may select several clusters
	// failed is the error of the first datacenter that could not be read. It is nil if all datacenters could be read.
	failed error
}

func (ls lookups) several() bool { return ls.kind != "" }

// each reads the datacenters concurrently. It warns about each error, and fails if no datacenter could be read.
func (ls *lookups) each(read func(i int, l *lookup) error) error {
	all := slices.Clone(ls.all) // other goroutines may use the datacenters
	failed := make([]error, len(all))
	crash.Each(len(all), len(all), func(i int) { failed[i] = read(i, &all[i]) })
	ls.all = nil
	for i, l := range all {
		if failed[i] == nil {
			ls.all = append(ls.all, l)
		} else {
			ls.failed = cmp.Or(ls.failed, l.fail(failed[i]))
		}
	}
	if len(ls.all) == 0 {
		return ls.failed
	}
	for i, l := range all {
		if failed[i] != nil {
			l.warn(consulx.Describe(failed[i]))
		}
	}
	return nil
}

// await waits for the first complete snapshot of each datacenter from its observer.
func (ls *lookups) await(ctx context.Context, observers []observer) error {
	err := ls.each(func(i int, l *lookup) (err error) {
		l.snapshot, err = l.awaitSnapshot(ctx, observers[i])
		return err
	})
	return cmp.Or(ctx.Err(), err)
}

// watched returns the addresses and the patterns of all clusters without duplicates.
func (ls lookups) watched() (addresses string, patterns []string) {
	var all []string
	for _, l := range ls.all {
		all, patterns = election.Union(all, l.Address()), election.Union(patterns, l.patterns.Strings()...)
	}
	return strings.Join(all, ","), patterns
}

// of returns the datacenter of an election.
func (ls lookups) of(e *election.Election) lookup {
	return ls.all[slices.IndexFunc(ls.all, func(l lookup) bool { return l.snapshot.Datacenter == e.Datacenter })]
}

// joined returns the snapshot of all datacenters.
func (ls lookups) joined() *election.Snapshot {
	return source.Join(election.Map(ls.all, func(l lookup) *election.Snapshot { return l.snapshot })...)
}

// result returns an error with the exit code for a failure if a datacenter could not be read. electop has already
// reported the reason.
func (ls lookups) result() error {
	if ls.failed == nil {
		return nil
	}
	return exitError(exitFailed)
}

// errUnread reports that no readable datacenter contains an election with this name, and that another datacenter could
// not be read.
var errUnread = errors.New("was not found in any datacenter that could be read")

// elections returns the elections with these names in all datacenters. Without names, it returns all elections. Each
// name must exist in at least one datacenter.
func (ls lookups) elections(ctx context.Context, names []string) (found []*election.Election, err error) {
	for _, l := range ls.all {
		if len(names) == 0 {
			l.warnMissing()
			found = append(found, l.snapshot.Elections...)
		}
	}
	for _, name := range names {
		known := len(found)
		for _, l := range ls.all {
			e, err := findElection(l.snapshot, name)
			switch {
			case err == nil:
				found = append(found, e)
			case !errors.Is(err, errNoElection):
				return nil, err
			}
		}
		switch {
		case len(found) > known:
		case ls.failed != nil:
			return nil, fmt.Errorf("%q %w: %s", clean(name), errUnread, consulx.Describe(ls.failed))
		default: // if the token cannot read all keys of a datacenter, the error is about that datacenter
			filtered := slices.IndexFunc(ls.all, func(l lookup) bool { return l.snapshot.Filtered })
			l := ls.all[max(0, filtered)]
			_, err := findElection(l.snapshot, name)
			return nil, l.explainError(ctx, name, err)
		}
	}
	return found, nil
}
