package cli

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// historyCommand holds the flags of `electop history`.
type historyCommand struct {
	d      deps
	o      *options
	output string
	since  string
	until  string
	causes []string
	types  []string
	terms  bool
	stats  bool
}

func newHistoryCommand(d deps, o *options) *cobra.Command {
	c := &historyCommand{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "history [NAME…]",
		Short: "Print events, terms and statistics from the history",
		Long: `Print what the dashboard, watch and record stored: the events, or with --terms
one line per term, both oldest first, or with --stats a summary per election.
electop does not contact Consul: --history selects a recorder or a file, by
default the file for the Consul address. -k selects the elections whose keys
match.

--since and --until take a duration before now (24h, 7d) or a time
(2026-11-20T03:12, local time unless it has a zone).

A term that began before observation started has FROM "before …" and
HELD ">= …". A term that ended while no observer was running has TO "by …".
In the table of events, "unobserved" lines show when no observer was running.

-o json prints one object per line, events as electop watch does; jq makes CSV
of it.`,
		Example: `  electop history --since 2d
  electop history billing --terms --since 2026-11-20
  electop history --stats --since 30d
  electop history --type elected,missed -o json | jq -r '[.time, .election, .leader] | @csv'`,
		ValidArgsFunction: completeHistory(o),
		RunE:              func(cmd *cobra.Command, names []string) error { return c.run(cmd.Context(), names, time.Now()) },
	}
	outputFlag(cmd, &c.output, "table", "json")
	f := cmd.Flags()
	f.StringVar(&c.since, "since", "24h", "print what happened after this time")
	f.StringVar(&c.until, "until", "", "print what happened before this time (default now)")
	f.StringSliceVar(&c.causes, "cause", nil, "print only the explained events, or the terms, with this cause")
	f.StringSliceVar(&c.types, "type", nil, "print only events of this type")
	f.BoolVar(&c.terms, "terms", false, "print terms: leader, node, beginning, end, cause and the vacancy after each term")
	f.BoolVar(&c.stats, "stats", false, "print a summary per election: terms, availability, vacancies, causes")
	return cmd
}

// validate checks the flags and returns the time range.
func (c *historyCommand) validate(now time.Time) (r history.Range, err error) {
	switch {
	case c.terms && c.stats:
		return r, usagef("--terms and --stats are mutually exclusive")
	case len(c.types) > 0 && (c.terms || c.stats):
		return r, usagef("--type selects events; it cannot be combined with --terms or --stats")
	case len(c.causes) > 0 && c.stats:
		return r, usagef("--cause cannot be combined with --stats")
	}
	if err := wantWords("--type", c.types, words(election.EventTypes())); err != nil {
		return r, err
	}
	if err := wantWords("--cause", c.causes, words(election.Causes())); err != nil {
		return r, err
	}
	return parseRange(c.since, c.until, now)
}

func parseRange(since, until string, now time.Time) (r history.Range, err error) {
	if r.Since, err = parseMoment("--since", since, now); err != nil {
		return r, err
	}
	r.Until = now
	if until != "" {
		if r.Until, err = parseMoment("--until", until, now); err != nil {
			return r, err
		}
	}
	if !r.Since.Before(r.Until) {
		return r, usagef("--since %s is not before --until (default now)", sanitize.Line(since, 40))
	}
	return r, nil
}

func wantWords(flag string, words, known []string) error {
	for _, word := range words {
		if !slices.Contains(known, word) {
			return usagef("%s %q: must be one of %s", flag, sanitize.Line(word, 40), strings.Join(known, ", "))
		}
	}
	return nil
}

func words[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = string(v)
	}
	return texts
}

func typed[T ~string](all []string) []T {
	values := make([]T, len(all))
	for i, v := range all {
		values[i] = T(v)
	}
	return values
}

func (c *historyCommand) run(ctx context.Context, names []string, now time.Time) error {
	r, err := c.validate(now)
	if err != nil {
		return err
	}
	f, err := c.o.openHistory(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	keys, err := c.o.historyKeys(ctx, f, names)
	if err != nil {
		return err
	}
	filter := history.Filter{Range: r, Names: keys, Datacenters: c.o.chosenDatacenters()}
	switch {
	case c.terms:
		return c.writeTerms(ctx, f, filter)
	case c.stats:
		return c.writeStats(ctx, f, filter)
	}
	return c.writeEvents(ctx, f, filter)
}

// openHistory opens the history of --history for reading.
func (o *options) openHistory(ctx context.Context) (history.Source, error) {
	switch {
	case o.history == historyOff:
		return nil, usagef("--history off: this command reads the history; use --history FILE or --history URL")
	case isURL(o.history):
		return o.historyClient()
	}
	path := o.history
	if path == "" {
		own := o.consul
		own.Datacenter = "" // a history contains all datacenters
		client, err := o.opened.client(own)
		if err != nil {
			return nil, err
		}
		if path, err = o.historyPath(client); err != nil {
			return nil, err
		}
	}
	f, err := sqlite.OpenFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("no history in " + sanitize.Line(path, 200) + "; electop, electop watch and electop record write it")
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// historyKeys returns the keys of the elections that match -k and have one of these names. Without -k and names, it
// returns nil, which selects all elections.
func (o *options) historyKeys(ctx context.Context, f history.Source, names []string) ([]string, error) {
	if len(names) == 0 && !o.selectsKeys() {
		return nil, nil
	}
	all, err := f.Elections(ctx)
	if err != nil {
		return nil, err
	}
	if o.selectsKeys() {
		ps, err := o.parsePatterns()
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(e history.Election) bool { _, ok := ps.Match(e.Key); return !ok })
	}
	if len(names) == 0 && len(all) == 0 {
		return nil, &missingError{text: "no election in the history matches -k or --preset: " + sanitize.Line(strings.Join(slices.Concat(o.patterns, o.presets), ", "), 200)}
	}
	var keys []string
	for _, name := range names {
		key, err := historyKey(all, name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	for i := range all {
		if len(names) == 0 {
			keys = append(keys, all[i].Key)
		}
	}
	return keys, nil
}

// historyKey returns the key of the one election that has the name or the key.
func historyKey(all []history.Election, name string) (string, error) {
	var found []string
	for _, e := range all {
		if e.Key == strings.TrimPrefix(name, "/") {
			return e.Key, nil
		}
		if e.Name == name && !slices.Contains(found, e.Key) {
			found = append(found, e.Key)
		}
	}
	switch len(found) {
	case 0:
		return "", &missingError{name: name, text: errNoElection.Error() + " in the history: " + sanitize.Line(name, 100)}
	case 1:
		return found[0], nil
	}
	return "", usagef("%q is ambiguous; use one of the keys: %s", sanitize.Line(name, 100), sanitize.Line(strings.Join(found, ", "), 1000))
}
