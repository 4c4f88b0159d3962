package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/shell"
)

func newDiscoverCommand(d deps, o *options) *cobra.Command {
	var format string
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
expensive on a large store; ctrl-c stops it.

With --datacenter dc1,dc2 or all, it searches one datacenter after the other and
writes a section for each; -o json writes an array with a result for each.

Presets:
` + presetTable() + `

Exit codes: 0 success, even if no locks are found; 5 if the token cannot read
any key. With several datacenters, electop exits with the most severe code: 1,
then 5.`,
		Example: "  electop discover\n  electop discover service/ -o json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("discover accepts at most one PREFIX; see electop discover --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDiscover(cmd.Context(), d, o, strings.Join(args, ""), format)
		},
	}
	outputFlag(cmd, &format, "text", "json")
	return cmd
}

// runDiscover searches the datacenters one after the other, because a search is expensive. It writes each section as
// soon as it is complete.
func runDiscover(ctx context.Context, d deps, o *options, prefix, format string) error {
	ls, err := o.open(ctx, d)
	if err != nil {
		return err
	}
	results := make([]discovered, len(ls.all))
	var codes []int
	sections := 0
	for i, l := range ls.all {
		found, err := discoverLocks(ctx, l.client, strings.TrimPrefix(prefix, "/"), l.patterns, l.progress(d))
		if ctx.Err() != nil {
			return errors.New("the search was interrupted")
		}
		results[i] = found
		if ls.several {
			results[i].Datacenter = l.config.Datacenter
		}
		if err != nil {
			results[i].Error = l.client.Redact(consulx.Describe(err))
			codes = append(codes, reportError(d.stderr, l.fail(err)))
			continue
		}
		if found.Incomplete {
			l.warn("this token cannot read all keys: locks may be missing; see electop doctor")
		}
		if found.SessionsErr != "" {
			l.warn("%s: electop may recognise less software", found.SessionsErr)
		}
		if format == "json" {
			continue
		}
		if len(found.Groups) == 0 {
			l.warn("no locks found%s", map[bool]string{true: " under " + sanitize.Line(prefix, 200)}[prefix != ""])
			continue
		}
		page := o.page(d.stdout)
		if sections++; sections > 1 {
			page.Blank()
		}
		if err := results[i].write(d.stdout, page); err != nil {
			return err
		}
	}
	worst := worstOf(codes...)
	switch {
	case format != "json":
		return worst
	case ls.several:
		return cmp.Or(writeIndented(d.stdout, results), worst)
	case worst != nil:
		return worst
	}
	return writeIndented(d.stdout, results[0])
}

// discovered is the result of a search for locks.
type discovered struct {
	// Datacenter is set only if there are several. Error is the reason why the search failed.
	Datacenter  string   `json:"datacenter,omitempty"`
	Error       string   `json:"error,omitempty"`
	Scanned     int      `json:"scanned"`    // number of keys
	Incomplete  bool     `json:"incomplete"` // the token cannot read all keys
	SessionsErr string   `json:"-"`          // reason why sessions could not be read, in a few words
	Flags       []string `json:"flags"`      // with which electop watches every group
	insight.FoundLocks
}

// discoverLocks searches the keys under a prefix for locks.
func discoverLocks(
	ctx context.Context, client *consulx.Client, prefix string, ps election.Patterns, progress func(done, total int),
) (found discovered, err error) {
	found.Flags, found.Groups = []string{}, []insight.LockGroup{}
	names, err := client.ListKeys(ctx, prefix)
	if found.Incomplete = errors.Is(err, consulx.ErrIncomplete); err != nil && !found.Incomplete {
		return found, err
	}
	var collected insight.LockCollector
	hidden, err := consulx.Scan(ctx, client, names, progress, collected.Add)
	if err != nil {
		return found, err
	}
	sessions, err := client.AllSessions(client.Read(ctx))
	found.SessionsErr = consulx.ReadProblem("sessions", err)
	found.Scanned, found.Incomplete = len(names), found.Incomplete || hidden
	found.FoundLocks = collected.Groups(names, sessions, ps)
	found.Groups = append([]insight.LockGroup{}, found.Groups...) // [] in JSON
	for i := range found.Groups {
		found.Flags = append(found.Flags, found.Groups[i].Flags()...)
	}
	return found, nil
}

// write writes the groups and the command that watches all locks.
func (found discovered) write(w io.Writer, page *kit.Page) error {
	var where []string
	if found.Datacenter != "" {
		where = []string{"--datacenter", sanitize.Line(found.Datacenter, 60)}
		page.Add(kit.Span{Role: kit.Strong, Text: "Datacenter " + where[1]})
	}
	for i := range found.Groups {
		pages.WriteGroup(page, &found.Groups[i])
	}
	if len(found.Flags) > 0 {
		page.Head("Flags that watch all of them:")
		page.Add(kit.Span{Role: kit.Text, Text: "  electop " + shellWords(append(where, found.Flags...))})
	}
	_, err := io.WriteString(w, page.Plain())
	return err
}

// shellWords quotes and joins arguments for a shell.
func shellWords(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = shell.Quote(arg)
	}
	return strings.Join(quoted, " ")
}
