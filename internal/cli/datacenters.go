package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
)

// allDatacenters is the value of --datacenter that selects every datacenter that the agent lists.
const allDatacenters = "all"

// leastWatches is the minimum number of connections of one [consulx.Client]. Each datacenter has its own client.
const leastWatches = 13

// errUnread reports that no readable datacenter contains an election with this name, and that another datacenter could
// not be read.
var errUnread = errors.New("was not found in any datacenter that could be read")

// severalDatacenters reports whether --datacenter may select more than one datacenter.
func (o *options) severalDatacenters() bool {
	return o.consul.Datacenter == allDatacenters || strings.Contains(o.consul.Datacenter, ",")
}

// oneDatacenter returns a usage error if --datacenter may select several datacenters but the command supports only one.
func (o *options) oneDatacenter() error {
	if !o.severalDatacenters() {
		return nil
	}
	example, _, _ := strings.Cut(o.consul.Datacenter, ",")
	if example = sanitize.Line(strings.TrimSpace(example), 60); example == "" || example == allDatacenters {
		example = "dc1"
	}
	return usagef("--datacenter %s: this command works in one datacenter; name one, e.g. --datacenter %s",
		sanitize.Line(o.consul.Datacenter, 80), example)
}

// datacenters returns one configuration for each datacenter of --datacenter. The connections of --max-watches are
// divided among the datacenters. For "all", it reads the names of the datacenters from Consul.
func (o *options) datacenters(ctx context.Context) ([]consulx.Config, error) {
	if !o.severalDatacenters() {
		return []consulx.Config{o.consul}, nil
	}
	names, err := o.datacenterNames(ctx)
	least := len(names) * leastWatches
	switch {
	case err != nil:
		return nil, err
	case least > maxMaxWatches:
		return nil, usagef("--datacenter %s selects %d datacenters; electop supports at most %d, because an agent limits its connections",
			sanitize.Line(o.consul.Datacenter, 80), len(names), maxMaxWatches/leastWatches)
	case least > o.consul.MaxConnections:
		return nil, usagef("--datacenter %s: %d datacenters need --max-watches %d or more", sanitize.Line(o.consul.Datacenter, 80), len(names), least)
	}
	all := make([]consulx.Config, len(names))
	for i, name := range names {
		all[i] = o.consul
		all[i].Datacenter, all[i].MaxConnections = name, o.consul.MaxConnections/len(names)
	}
	return all, nil
}

// datacenterNames returns the names of the selected datacenters without duplicates.
func (o *options) datacenterNames(ctx context.Context) ([]string, error) {
	if o.consul.Datacenter != allDatacenters {
		var names []string
		for name := range strings.SplitSeq(o.consul.Datacenter, ",") {
			switch name = strings.TrimSpace(name); {
			case name == "":
				return nil, usagef("--datacenter %q: a name is empty", sanitize.Line(o.consul.Datacenter, 80))
			case name == allDatacenters:
				return nil, usagef("--datacenter %s: all cannot be combined with names", sanitize.Line(o.consul.Datacenter, 80))
			case !slices.Contains(names, name):
				names = append(names, name)
			}
		}
		return names, nil
	}
	own := o.consul
	own.Datacenter = ""
	client, err := o.opened.client(own)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	names, err := client.Datacenters(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--datacenter all: %w", err)
	case len(names) == 0:
		return nil, errors.New("--datacenter all: the response from the agent contains no datacenters")
	}
	slices.Sort(names)
	return names, nil
}

// connectAll returns a client for each datacenter, and the patterns of a command.
func (o *options) connectAll(ctx context.Context) ([]*consulx.Client, election.Patterns, error) {
	ps, err := o.parsePatterns()
	if err != nil {
		return nil, nil, err
	}
	if err := o.checkConnections(); err != nil {
		return nil, nil, err
	}
	configs, err := o.datacenters(ctx)
	if err != nil {
		return nil, nil, err
	}
	clients := make([]*consulx.Client, len(configs))
	for i, config := range configs {
		if clients[i], err = o.opened.client(config); err != nil {
			return nil, nil, err
		}
	}
	return clients, ps, nil
}

// lookups are the elections of one or several datacenters.
type lookups struct {
	all []lookup
	// failed is the error of the first datacenter that could not be read. It is nil if all datacenters could be read.
	failed error
}

// lookUpAll reads the elections of each datacenter of --datacenter once. It fails if no datacenter can be read.
func (o *options) lookUpAll(ctx context.Context, d deps, past pastReader) (lookups, error) {
	clients, ps, err := o.connectAll(ctx)
	if err != nil {
		return lookups{}, err
	}
	found, failed := make([]lookup, len(clients)), make([]error, len(clients))
	var reads sync.WaitGroup
	for i, client := range clients {
		reads.Go(func() { found[i], failed[i] = lookUpIn(ctx, d, client, ps, past) })
	}
	reads.Wait()
	return newLookups(d, clients, found, failed)
}

// newLookups returns the elections of all datacenters that could be read, and warns about each error. It fails if no
// datacenter could be read.
func newLookups(d deps, clients []*consulx.Client, found []lookup, failed []error) (ls lookups, err error) {
	var warnings []string
	for i, client := range clients {
		err := failed[i]
		if err == nil {
			if len(clients) > 1 {
				found[i].where = "datacenter " + sanitize.Line(client.Datacenter(), 60) + ": "
			}
			ls.all = append(ls.all, found[i])
			continue
		}
		if len(clients) > 1 {
			err = ofDatacenter(client, err)
		}
		ls.failed = cmp.Or(ls.failed, err)
		warnings = append(warnings, consulx.Describe(err))
	}
	if len(ls.all) == 0 {
		return lookups{}, ls.failed
	}
	for _, line := range warnings {
		d.warn(line)
	}
	return ls, nil
}

// ofDatacenter adds the name of the datacenter to an error.
func ofDatacenter(client *consulx.Client, err error) error {
	return fmt.Errorf("datacenter %s: %w", sanitize.Line(client.Datacenter(), 60), err)
}

// mostSevere returns the more severe result of two datacenters. Exit code 1 is the most severe result, and success is
// the least severe result.
func mostSevere(a, b error) error {
	if a == nil || errors.Is(b, exitError(exitFailed)) {
		return b
	}
	return a
}

// at returns the time of the latest snapshot.
func (ls lookups) at() (at time.Time) {
	for _, l := range ls.all {
		if l.snapshot.At.After(at) {
			at = l.snapshot.At
		}
	}
	return at
}

// several reports whether there are several datacenters, even if some could not be read.
func (ls lookups) several() bool { return len(ls.all) > 1 || ls.failed != nil }

// result returns an error with the exit code for a failure if a datacenter could not be read. electop has already
// reported the reason.
func (ls lookups) result() error {
	if ls.failed == nil {
		return nil
	}
	return exitError(exitFailed)
}

// elections returns, for each datacenter, the elections with these names. Without names, it returns all elections. Each
// name must exist in at least one datacenter.
func (ls lookups) elections(ctx context.Context, names []string) ([][]*election.Election, error) {
	found := make([][]*election.Election, len(ls.all))
	if len(names) == 0 {
		for i, l := range ls.all {
			l.warnMissing(ctx)
			found[i] = l.snapshot.Elections
		}
		return found, nil
	}
	for _, name := range names {
		known := false
		for i, l := range ls.all {
			e, err := findElection(l.snapshot, name)
			var missing *missingError
			switch {
			case errors.As(err, &missing):
			case err != nil:
				return nil, err
			default:
				known, found[i] = true, append(found[i], e)
			}
		}
		if !known {
			return nil, ls.explainMissing(ctx, name)
		}
	}
	return found, nil
}

// explainMissing returns the error for a name that no datacenter contains. If the token cannot read all keys of a
// datacenter, the error is about that datacenter.
func (ls lookups) explainMissing(ctx context.Context, name string) error {
	if ls.failed != nil {
		return fmt.Errorf("%q %w: %s", sanitize.Line(name, 100), errUnread, consulx.Describe(ls.failed))
	}
	filtered := slices.IndexFunc(ls.all, func(l lookup) bool { return l.snapshot.Filtered })
	_, err := ls.all[max(0, filtered)].election(ctx, name)
	return err
}

// one returns the datacenter in which all names exist. It returns an error if a name exists in several datacenters,
// because an action must not choose one of them.
func (ls lookups) one(ctx context.Context, names []string) (lookup, error) {
	if len(ls.all) == 1 && ls.failed == nil {
		return ls.all[0], nil
	}
	if ls.failed != nil {
		return lookup{}, fmt.Errorf("the names cannot be assigned to datacenters, because a datacenter cannot be read: %w", ls.failed)
	}
	var in []int
	for _, name := range names {
		found, err := ls.elections(ctx, []string{name})
		if err != nil {
			return lookup{}, err
		}
		var here []int
		for i := range found {
			if len(found[i]) > 0 {
				here = append(here, i)
			}
		}
		if len(here) > 1 {
			return lookup{}, usagef("%q exists in the datacenters %s; choose one with --datacenter", sanitize.Line(name, 100), ls.names(here))
		}
		if err := ls.onlyIn(ctx, here[0], found[here[0]][0], name); err != nil {
			return lookup{}, err
		}
		if in = append(in, here...); here[0] != in[0] {
			return lookup{}, usagef("the elections are in the datacenters %s; this command acts in one datacenter; choose it with --datacenter", ls.names([]int{in[0], here[0]}))
		}
	}
	return ls.all[in[0]], nil
}

// onlyIn returns an error if a datacenter other than in may contain an election with this name that the token cannot
// read.
func (ls lookups) onlyIn(ctx context.Context, in int, e *election.Election, name string) error {
	what := sanitize.Line(name, 100) + " may exist"
	if strings.TrimPrefix(name, "/") != e.Key() { // another key, which the token cannot read, may have the same name
		if err := ls.hidesOutside(in, what); err != nil {
			return err
		}
	}
	return ls.outside(ctx, in, func(ctx context.Context, l lookup) error {
		switch hidden, err := consulx.Hidden(ctx, l.client, e.Key()); {
		case err != nil:
			return ofDatacenter(l.client, err)
		case hidden:
			return l.hides(what)
		}
		return nil
	})
}

// outside calls check for each datacenter except the one with the index in, and returns the first error.
func (ls lookups) outside(ctx context.Context, in int, check func(context.Context, lookup) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	for i, l := range ls.all {
		if i == in {
			continue
		}
		if err := check(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// hidesOutside returns an error if the token cannot read all keys of a datacenter other than in.
func (ls lookups) hidesOutside(in int, what string) error {
	for i, l := range ls.all {
		if i != in && l.snapshot.Filtered {
			return l.hides(what)
		}
	}
	return nil
}

// omitsOutside returns an error if Consul's response may lack elections of a datacenter other than in.
func (ls lookups) omitsOutside(ctx context.Context, in int, what string) error {
	if err := ls.hidesOutside(in, what); err != nil {
		return err
	}
	return ls.outside(ctx, in, func(ctx context.Context, l lookup) error {
		switch silent, err := l.client.OmitsSilently(ctx); {
		case err != nil:
			return ofDatacenter(l.client, err)
		case silent:
			return fmt.Errorf("%w: without a token, Consul does not report hidden keys of datacenter %s, and %s there too; choose a datacenter with --datacenter",
				consulx.ErrDenied, sanitize.Line(l.client.Datacenter(), 60), what)
		}
		return nil
	})
}

// hides returns the error of an action that may miss an election, because the token cannot read all keys of this
// datacenter.
func (l lookup) hides(what string) error {
	return fmt.Errorf("%w: this token cannot read all keys of datacenter %s, and %s there too; choose a datacenter with --datacenter",
		consulx.ErrDenied, sanitize.Line(l.client.Datacenter(), 60), what)
}

// names lists datacenters for a message.
func (ls lookups) names(which []int) string {
	names := make([]string, len(which))
	for i, n := range which {
		names[i] = sanitize.Line(ls.all[n].client.Datacenter(), 60)
	}
	return strings.Join(names, ", ")
}
