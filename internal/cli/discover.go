package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
	"electop/ui/pages"
)

func newDiscoverCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "discover [PREFIX]",
		Short: "List every lock and semaphore, and the flags that watch them",
		Long: `List every lock and semaphore in the store, or under PREFIX, grouped into
patterns, with the software that is recognised and the flags that watch them.
It never writes.

A key is a lock if a session holds it, if it was acquired and not written
without the lock since, or if it has the flags of a lock library. So locks
without a holder are found too, and other keys never appear. WATCHED counts the
keys that the patterns of this command line (-k, --preset or the default) match.

discover lists the names of all keys and then reads each key once, so it is
expensive on a large store; ctrl-c stops it. In etcd, it lists the queues and
the other keys with a lease, and reads no values.

With --datacenter dc1,dc2 or all, it searches one datacenter after the other and
writes a section for each; -o json writes an array with a result for each.

Presets:
` + presetTable() + `

Exit codes: 0 success, even if no locks are found; 5 if the token cannot read
any key. With several datacenters, electop exits with the most severe code: 1,
then 5.`,
		Example: "  electop discover\n  electop discover service/ -o json",
		Args:    arguments(0, 1),
		RunE: work(func(ctx context.Context, args []string) error {
			return runDiscover(ctx, o, strings.Join(args, ""))
		}),
	}
	o.outputFlag(cmd, "text")
	return cmd
}

// runDiscover searches the datacenters one after the other, because a search is expensive.
func runDiscover(ctx context.Context, o *options, prefix string) error {
	ls, err := o.open(ctx)
	if err != nil {
		return err
	}
	var codes []int
	results := make([]pages.Found, len(ls.all))
	for i, l := range ls.all {
		found, err := l.Discover(ctx, prefix, l.patterns, l.progress)
		switch {
		case ctx.Err() != nil:
			return errors.New("the search was interrupted")
		case err != nil:
			found.Error = l.Redact(consulx.Describe(err))
			codes = append(codes, reportError(o.stderr, l.fail(err)))
		case found.Problem != "":
			l.warn(found.Problem)
		}
		if len(found.Groups) == 0 && err == nil && o.output != "json" {
			l.warn("no locks found" + map[bool]string{true: " under " + clean(prefix)}[prefix != ""])
		}
		if ls.several() {
			found.Datacenter = l.Datacenter()
		}
		found.Groups, found.Flags = append([]insight.LockGroup{}, found.Groups...), []string{} // [] in JSON
		for i := range found.Groups {
			found.Flags = append(found.Flags, found.Groups[i].Flags...)
		}
		results[i] = found
	}
	var all any = results
	if !ls.several() {
		all = results[0]
	}
	return cmp.Or(o.document(all, func(page *kit.Page) {
		for i := range results {
			writeFound(page, ls.kind, &results[i])
		}
	}), worstOf(codes...))
}

func (c consul) Discover(ctx context.Context, prefix string, ps election.Patterns, progress kit.Progress) (found pages.Found, err error) {
	names, err := c.ListKeys(ctx, strings.TrimPrefix(prefix, "/"))
	if found.Incomplete = errors.Is(err, election.ErrIncomplete); err != nil && !found.Incomplete {
		return found, err
	}
	var collected insight.LockCollector
	hidden, err := consulx.Scan(ctx, c.Client, names, progress, collected.Add)
	if err != nil {
		return found, err
	}
	sessions, err := c.Sessions(ctx)
	if found.Problem = consulx.ReadProblem("sessions", err); err != nil {
		found.Problem += ": electop may recognise less software"
	}
	if found.Scanned, found.Incomplete = len(names), found.Incomplete || hidden; found.Incomplete {
		found.Problem = "this token cannot read all keys: locks may be missing; see electop doctor"
	}
	found.FoundLocks = collected.Groups(names, sessions, ps)
	return found, nil
}

// writeFound writes the groups and the command that watches all locks.
func writeFound(page *kit.Page, kind string, found *pages.Found) {
	var where []string
	if found.Datacenter != "" && len(found.Groups) > 0 {
		where = []string{"--" + kind, clean(found.Datacenter)}
		page.Head(kit.Capital(kind) + " " + where[1])
	}
	for i := range found.Groups {
		pages.WriteGroup(page, &found.Groups[i])
	}
	if len(found.Flags) > 0 {
		page.Head("Flags that watch exactly these keys:")
		page.Add(kit.Text.Span("  electop " + shellWords(append(where, found.Flags...))))
	}
}
