package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/kit"
)

func newListCommand(o *options) *cobra.Command {
	var advice bool
	var shown view
	cmd := &cobra.Command{
		Use:   "list [NAME…]",
		Short: "List the current state of the elections",
		Long: `List the current state of the elections. With --advice, list the risks of their
configuration instead, and the leaders that have failed but whose session still
holds the key. Risks that need observation over time, such as flapping, are
judged from the history. Each piece of advice names all elections that have it.

With --datacenter dc1,dc2 or all, the elections of several datacenters are
listed. If electop cannot read a datacenter, it reports the error and exits with
code 1.`,
		Example:           "  electop list\n  electop list -o json web mail\n  electop list -k 'vault/core/lock'\n  electop list --advice\n  electop list --filter 'state:vacant !node:node-2' --sort problems",
		ValidArgsFunction: completeNames(o),
		RunE: work(func(ctx context.Context, names []string) error {
			ls, err := o.readEach(ctx, true)
			if err != nil {
				return err
			}
			chosen, err := ls.elections(ctx, names)
			if err != nil {
				return err
			}
			if chosen, err = shown.apply(ctx, ls, chosen); err != nil {
				return err
			}
			s := ls.joined()
			if !advice {
				for _, l := range ls.all {
					l.warnFailed(ctx, chosen)
				}
			}
			switch {
			case advice:
				err = listAdvice(ctx, o, ls, chosen)
			case o.output == "json":
				err = writeIndented(o.stdout, election.Map(chosen, func(e *election.Election) election.JSON { return e.JSON(s.At) }))
			default:
				err = writeElectionsTable(o.stdout, chosen, s, ls.several())
			}
			return cmp.Or(err, ls.result())
		}),
	}
	shown.flags(cmd.Flags())
	o.outputFlag(cmd, "table")
	cmd.Flags().BoolVar(&advice, "advice", false, "list the risks of the elections, and what to do about them")
	return cmd
}

// writeElectionsTable writes a table. It names the datacenters if there are several.
func writeElectionsTable(w io.Writer, elections []*election.Election, s *election.Snapshot, several bool) error {
	t, now := table{several: several}, s.At
	leases := !slices.ContainsFunc(s.Datacenters(), func(part *election.Snapshot) bool { return !part.Store.Leases })
	row := func(datacenter string, cells ...string) {
		if leases { // they have no node and no lock-delay
			cells = slices.Concat(cells[:3], cells[4:9], cells[10:])
		}
		t.row(datacenter, cells...)
	}
	row("DC", strings.Fields("ELECTION STATE LEADER NODE FOR TERM CHANGES/h SESSION TTL LOCK-DELAY KEY")...)
	for _, e := range elections {
		leader, node, number, session, ttl, delay := "no leader", "-", fmt.Sprint(e.Term), "-", "-", "-"
		if e.State(now) == election.Led {
			leader, session = e.Leader, election.ShortID(e.Pair.Session)
		} else if sem := election.ReadSemaphore(e, nil); sem != nil {
			leader = fmt.Sprintf("semaphore, %d of %d", len(sem.Holders), sem.Limit)
		} else if e.Candidateless {
			leader = "no candidate"
		}
		if s := e.Session; s != nil {
			node = cmp.Or(sanitize.Line(s.Node, 40), "-")
			if !s.Store.Leases {
				delay = s.LockDelay.String()
			}
			ttl = s.TTLText()
		}
		switch {
		case e.Overwritten() && e.Term == 0:
			number = "?"
		case e.Overwritten(): // the number is that before the write
			number += "!"
		case e.Store.Revisions && e.Term > 0:
			number = "rev " + number
		}
		row(e.Datacenter, sanitize.Line(e.Name, 80), string(e.State(now)), sanitize.Line(leader, 40), node, heldFor(e, now), number,
			strconv.Itoa(e.Changes(now, time.Hour)), session, ttl, delay, sanitize.Line(e.Key(), 120))
	}
	return t.write(w)
}

// heldFor returns for how long the election has had its leader or none, "≥" and a minimum, or "-" if that is unknown.
func heldFor(e *election.Election, now time.Time) string {
	since, known := e.VacantSince, e.VacantSinceKnown
	if e.State(now) == election.Led {
		since, known = e.Since, e.SinceKnown
	}
	switch held := election.BriefDuration(now.Sub(since)); {
	case known:
		return held
	case since.IsZero(), now.Sub(since) < time.Second, slices.ContainsFunc(e.Events, func(ev election.Event) bool { return ev.Initial && ev.Time.Equal(since) }):
		return "-" // the only observation is this command's, which may last longer
	default:
		return "≥" + held
	}
}

// electionAdvice is one piece of advice about an election.
type electionAdvice struct {
	Election   string `json:"election"`
	Key        string `json:"key"`
	Datacenter string `json:"datacenter"`
	insight.Finding
}

// listAdvice writes the advice for the chosen elections.
func listAdvice(ctx context.Context, o *options, ls lookups, chosen []*election.Election) error {
	sessions, err := ls.judged(ctx)
	if err != nil {
		return err
	}
	known, facts := ls.facts()
	advice := query.Advice(known, sessions, facts)
	all := []electionAdvice{}
	for _, e := range chosen {
		for _, a := range advice(e) {
			ls.of(e).pasteable(&a)
			all = append(all, electionAdvice{Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, Finding: a})
		}
	}
	if len(all) == 0 {
		o.warn("no advice for these elections; electop rescue explains why an election has no leader")
	}
	return o.document(all, func(page *kit.Page) { writeAdvice(page, all, ls.several()) })
}

// writeAdvice writes each distinct piece of advice with the names of all elections that have it.
func writeAdvice(page *kit.Page, all []electionAdvice, several bool) {
	var order []insight.Finding
	names := map[insight.Finding][]string{}
	for _, a := range all {
		if names[a.Finding] == nil {
			order = append(order, a.Finding)
		}
		name := sanitize.Line(a.Election, 80)
		if several {
			name += " (" + sanitize.Line(a.Datacenter, 40) + ")"
		}
		names[a.Finding] = append(names[a.Finding], name)
	}
	for _, a := range order {
		title := a.Code
		if a.Urgent {
			title += ", urgent"
		}
		page.Head(title)
		for _, f := range [][2]string{{"Elections", strings.Join(names[a], ", ")}, {"Why", a.Why}} {
			page.Field(f[0], kit.Text.Span(sanitize.Line(f[1], 2000)))
		}
		page.Advice("Do", sanitize.Line(a.Do, 2000))
	}
}
