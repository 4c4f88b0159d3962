package rescue

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// Inspector reads the data about elections at the time Now.
type Inspector struct {
	Client *consulx.Client
	// Elections contains all elections that are known at Now.
	Elections []*election.Election
	Now       time.Time
	// Probe enables the lock-delay probe. The probe requires write permission on the key.
	Probe bool
	// Seen replaces [Seen] if it is not 0.
	Seen time.Duration
}

// Inspect returns the chosen elections that have a problem, in the order of chosen. All its reads are consistent.
func (in Inspector) Inspect(ctx context.Context, chosen []*election.Election) []*Item {
	in.Client = in.Client.Consistently()
	var vacant, held []*election.Election
	for _, e := range chosen {
		switch insight.FixNeeds(e, in.Now) {
		case insight.NeedsSurroundings:
			vacant = append(vacant, e)
		case insight.NeedsChecks:
			held = append(held, e)
		default:
		}
	}
	all := in.surroundings(ctx, vacant)
	in.probe(ctx, all)
	in.readNodes(ctx, held, all)
	items := in.infer(chosen, all)
	in.plan(ctx, items)
	return items
}

// infer returns the elections whose facts show a problem.
func (in Inspector) infer(chosen []*election.Election, all map[*election.Election]*facts) []*Item {
	var sessions []*election.Session
	for _, f := range all {
		if f.Around != nil {
			sessions = f.Around.Sessions // all elections share one list of sessions
		}
	}
	board := insight.NewBoard(in.Elections, sessions)
	var items []*Item
	for _, e := range chosen {
		f := all[e]
		if f == nil || f.taken {
			continue
		}
		if fix := board.Fix(e, f.FixFacts); fix != nil {
			items = append(items, &Item{Election: e, Fix: fix, Facts: f.FixFacts, Ready: f.read.Add(cmp.Or(in.Seen, Seen)), client: in.Client})
		}
	}
	return items
}

// facts contains the data about one election.
type facts struct {
	insight.FixFacts
	taken bool      // set if a session acquired the key after the first read
	read  time.Time // when the checks were read
}

func (f *facts) probed(found consulx.ProbeResult) {
	switch found.State {
	case consulx.LockHeld:
		f.taken = true
	case consulx.LockDelayed:
		f.Delay = insight.DelayActive
	case consulx.LockFree:
		f.Delay = insight.DelayNone
	}
}

func (in Inspector) surroundings(ctx context.Context, vacant []*election.Election) map[*election.Election]*facts {
	all := map[*election.Election]*facts{}
	if len(vacant) == 0 {
		return all
	}
	keys := make([]string, len(vacant))
	for i, e := range vacant {
		keys[i] = e.Key()
	}
	for i, around := range consulx.Surveys(ctx, in.Client, keys) {
		all[vacant[i]] = &facts{FixFacts: insight.FixFacts{Now: in.Now, Around: &around}}
	}
	return all
}

// probe probes each vacant election for a lock-delay. If the probe fails, for example because a permission is
// missing, the lock-delay remains unknown.
func (in Inspector) probe(ctx context.Context, all map[*election.Election]*facts) {
	if !in.Probe {
		return
	}
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	for e, f := range all {
		if e.Unaddressable || e.Unreadable {
			continue
		}
		g.Go(func() error {
			found, err := consulx.ProbeLockDelay(ctx, in.Client, e.Key())
			if err != nil {
				f.DelayErr = consulx.Describe(err)
				return nil
			}
			f.probed(found)
			return nil
		})
	}
	_ = g.Wait() // ignore the error: the facts contain the errors
}

// readNodes reads the checks of the leaders' nodes.
func (in Inspector) readNodes(ctx context.Context, held []*election.Election, all map[*election.Election]*facts) {
	var nodes []string
	for _, e := range held {
		if e.Session != nil {
			nodes = append(nodes, e.Session.Node)
		}
	}
	checks := consulx.NodesChecks(ctx, in.Client, nodes)
	for _, e := range held {
		f := &facts{FixFacts: insight.FixFacts{Now: in.Now, Unread: "its session could not be read"}}
		if e.Session != nil {
			read := checks[e.Session.Node]
			f.Checks, f.Unread, f.read = read.Checks, unread(e, read), read.At
		}
		all[e] = f
	}
}

// unread returns the reason why it is unknown whether the leader's node has failed, or "" if the checks were read. A token
// that can read any check of a node can read its node checks.
func unread(e *election.Election, read election.NodeChecks) string {
	if read.Err == "" {
		return ""
	}
	return fmt.Sprintf("the checks of %s could not be read (%s)", sanitize.Line(e.Session.Node, election.LabelLength), sanitize.Line(read.Err, 200))
}
