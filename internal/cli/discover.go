package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
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

func runDiscover(ctx context.Context, d deps, o *options, prefix, format string) error {
	ls, err := o.open(ctx, d)
	if err != nil {
		return err
	}
	s := &lockSearch{d: d, prefix: prefix, json: format == "json"}
	if ls.several {
		return s.everywhere(ctx, ls.all)
	}
	found, err := s.in(ctx, ls.all[0])
	if err != nil {
		return err
	}
	s.warn(found, "")
	if s.json {
		return writeDiscoveredJSON(d.stdout, newDiscoveredJSON(found))
	}
	return writeDiscovered(d.stdout, found, nil)
}

// lockSearch is a run of discover.
type lockSearch struct {
	d        deps
	prefix   string
	json     bool
	sections int // number of sections written
}

// in searches one datacenter, and shows the progress.
func (s *lockSearch) in(ctx context.Context, l lookup) (discovered, error) {
	p := &progress{w: s.d.stderr, terminal: s.d.interactive, where: l.where}
	found, err := discoverLocks(ctx, l.client, strings.TrimPrefix(s.prefix, "/"), l.patterns, p.update)
	if p.total > 0 {
		p.end()
	}
	if ctx.Err() != nil {
		return found, errors.New("the search was interrupted")
	}
	return found, err
}

// everywhere searches the datacenters one after the other, because a search is expensive. It writes each section as
// soon as it is complete.
func (s *lockSearch) everywhere(ctx context.Context, all []lookup) error {
	results := make([]discoveredJSON, len(all))
	var worst error
	for i, l := range all {
		found, err := s.in(ctx, l)
		if ctx.Err() != nil {
			return err
		}
		results[i] = newDiscoveredJSON(found)
		results[i].Datacenter = l.config.Datacenter
		if err != nil {
			results[i].Error = l.client.Redact(consulx.Describe(err))
			worst = mostSevere(worst, exitError(reportError(s.d.stderr, l.fail(err))))
			continue
		}
		s.warn(found, l.where)
		if err := s.section(found, sanitize.Line(l.config.Datacenter, 60)); err != nil {
			return err
		}
	}
	if s.json {
		return cmp.Or(writeDiscoveredJSON(s.d.stdout, results), worst)
	}
	return worst
}

// section writes the table of one datacenter. It writes nothing for JSON, or if the datacenter has no locks.
func (s *lockSearch) section(found discovered, datacenter string) error {
	if s.json || len(found.Groups) == 0 {
		return nil
	}
	if s.sections++; s.sections > 1 {
		fmt.Fprintln(s.d.stdout)
	}
	fmt.Fprintf(s.d.stdout, "Datacenter %s\n", datacenter)
	return writeDiscovered(s.d.stdout, found, []string{"--datacenter", datacenter})
}

// warn warns if a search may have missed locks or software, or found no locks. Each line begins with where.
func (s *lockSearch) warn(found discovered, where string) {
	if found.Incomplete {
		s.d.warn(where + "this token cannot read all keys: locks may be missing; see electop doctor")
	}
	if found.SessionsErr != "" {
		s.d.warn(where + found.SessionsErr + ": electop may recognise less software")
	}
	if len(found.Groups) == 0 && !s.json {
		s.d.warn(where + "no locks found" + map[bool]string{true: " under " + sanitize.Line(s.prefix, 200)}[s.prefix != ""])
	}
}

// discovered is the result of a search for locks.
type discovered struct {
	insight.FoundLocks
	Scanned     int    // number of keys
	Incomplete  bool   // the token cannot read all keys
	SessionsErr string // reason why sessions could not be read, in a few words
}

// discoverLocks searches the keys under a prefix for locks.
func discoverLocks(
	ctx context.Context, client *consulx.Client, prefix string, ps election.Patterns, progress func(done, total int),
) (found discovered, err error) {
	names, err := client.ListKeys(ctx, prefix)
	if found.Incomplete = errors.Is(err, consulx.ErrPartly); err != nil && !found.Incomplete {
		return found, err
	}
	var locks insight.LockCollector
	hidden, err := consulx.Scan(ctx, client, names, progress, locks.Add)
	if err != nil {
		return found, err
	}
	sessions, err := client.AllSessions(client.Read(ctx))
	found.SessionsErr = consulx.ReadProblem("sessions", err)
	found.Scanned, found.Incomplete = len(names), found.Incomplete || hidden
	found.FoundLocks = locks.Groups(names, sessions, ps)
	return found, nil
}

// listedKeys is the maximum number of keys that the table shows for each group.
const listedKeys = 2

// writeDiscovered writes a table and the command that watches all locks. where contains the flags of the command that
// select the datacenter.
func writeDiscovered(w io.Writer, found discovered, where []string) error {
	if len(found.Groups) == 0 {
		return nil
	}
	tw := output.NewTable(w)
	fmt.Fprintln(tw, "PATTERN\tLOCKED\tUNLOCKED\tSEMAPHORES\tWATCHED\tSOFTWARE\tPRESET\tKEYS")
	for i := range found.Groups {
		g := &found.Groups[i]
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", groupName(g), g.Locked, g.Unlocked, g.Semaphores, watchedText(g),
			strings.Join(g.SoftwareNames(), ", "), dashIfEmpty(strings.Join(g.Presets, " ")), keysText(g.Keys))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	flags := allFlags(found)
	if len(flags) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nFlags that watch all of them:\n  electop %s\n", shellWords(append(where, flags...)))
	return err
}

// groupName returns the pattern of a group. If the group has no pattern, it returns the key of the group.
func groupName(g *insight.LockGroup) string {
	text := g.Pattern
	if text == "" {
		text = g.Keys[0]
	}
	return sanitize.Line(strings.Join(append([]string{text}, g.Excluded...), " "), 120)
}

func watchedText(g *insight.LockGroup) string {
	switch {
	case g.Members:
		return "no election"
	case g.Pattern == "":
		return "no pattern"
	}
	return fmt.Sprintf("%d of %d", g.Watched, len(g.Keys))
}

func dashIfEmpty(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func keysText(keys []string) string {
	var shown []string
	for _, key := range keys[:min(len(keys), listedKeys)] {
		shown = append(shown, sanitize.Line(key, 80))
	}
	if more := len(keys) - listedKeys; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

// allFlags returns the flags with which electop watches every group.
func allFlags(found discovered) []string {
	flags := []string{}
	for i := range found.Groups {
		flags = append(flags, found.Groups[i].Flags()...)
	}
	return flags
}

// shellWords quotes and joins arguments for a shell.
func shellWords(args []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,"
	quoted := make([]string, len(args))
	for i, arg := range args {
		if quoted[i] = arg; strings.Trim(arg, plain) != "" || arg == "" {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

type lockGroupJSON struct {
	Pattern    string         `json:"pattern"`
	Excluded   []string       `json:"excluded,omitempty"`
	Election   bool           `json:"election"`
	Locked     int            `json:"locked"`
	Unlocked   int            `json:"unlocked"`
	Semaphores int            `json:"semaphores"`
	Watched    int            `json:"watched"`
	Software   map[string]int `json:"software"`
	Presets    []string       `json:"presets,omitempty"`
	Flags      []string       `json:"flags"`
	Keys       []string       `json:"keys"`
}

type discoveredJSON struct {
	// Datacenter and Error are set only if several datacenters are searched. Error is the reason why the search failed.
	Datacenter string          `json:"datacenter,omitempty"`
	Error      string          `json:"error,omitempty"`
	Scanned    int             `json:"scanned"`
	Incomplete bool            `json:"incomplete"`
	Locks      int             `json:"locks"`
	Unwatched  int             `json:"unwatched"`
	Flags      []string        `json:"flags"`
	Groups     []lockGroupJSON `json:"groups"`
}

func newDiscoveredJSON(found discovered) discoveredJSON {
	j := discoveredJSON{
		Scanned: found.Scanned, Incomplete: found.Incomplete, Locks: found.Locks, Unwatched: found.Unwatched,
		Flags: allFlags(found), Groups: []lockGroupJSON{},
	}
	for i := range found.Groups {
		g := &found.Groups[i]
		j.Groups = append(j.Groups, lockGroupJSON{
			Pattern: g.Pattern, Excluded: g.Excluded, Election: !g.Members, Locked: g.Locked, Unlocked: g.Unlocked,
			Semaphores: g.Semaphores, Watched: g.Watched, Software: g.Software, Presets: g.Presets,
			Flags: append([]string{}, g.Flags()...), Keys: g.Keys,
		})
	}
	return j
}

// writeDiscoveredJSON writes one result or several.
func writeDiscoveredJSON(w io.Writer, results any) error {
	text, err := json.Marshal(results)
	if err != nil {
		return err
	}
	return output.WriteIndented(w, text)
}
