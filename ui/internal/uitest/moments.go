package uitest

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
)

// Moments is a history in memory. It computes the state at a moment from the earlier events.
type Moments struct {
	history.Source // the methods that package travel does not call
	// All contains the events, oldest first. State ignores event types other than elected, vacated and explained.
	All      []election.Event
	Observed []history.Observation
	// Err is the error of every read. Reads is the number of calls to State.
	Err   error
	Reads int
}

// Incident returns a history in which billing lost its leader at 03:12:05 and elected another leader 15 s later. No
// observer was running from 03:30 to 04:00.
func Incident() *Moments {
	at := func(clock string) time.Time {
		t, err := time.Parse("2006-01-02 15:04:05.000", "2026-11-20 "+clock)
		if err != nil {
			panic(err)
		}
		return t
	}
	ev := func(clock string, kind election.EventType, name, leader, node string, term uint64) election.Event {
		return election.Event{
			Time: at(clock), Type: kind, Election: name, Key: "service/" + name + "/leader", Datacenter: "dc1", Term: term, CreateIndex: 40,
			Leader: leader, Session: SessionID(int(term)) + leader, Node: node,
		}
	}
	found := func(name string, k string, term uint64) election.Event {
		e := ev("02:00:00.000", election.Elected, name, name+"-"+k, "node-"+k, term)
		e.Initial, e.Gap = true, true
		return e
	}
	lost := ev("03:12:05.120", election.Vacated, "billing", "billing-1", "node-1", 16)
	lost.Held = 72*time.Minute + 5*time.Second
	why := lost
	why.Type, why.Time, why.Held = election.Explained, at("03:12:05.180"), 0
	why.Cause, why.Evidence = election.CheckCritical, "service:billing-1 on node-1: HTTP GET http://10.0.0.6/health: 503"
	why.LockDelayUntil = lost.Time.Add(15 * time.Second)
	won := ev("03:12:20.300", election.Elected, "billing", "billing-3", "node-3", 17)
	why.AliveUntil = lost.Time.Add(-30 * time.Second)
	won.Vacancy, won.VacancyKnown, won.AliveUntil = 15180*time.Millisecond, true, why.AliveUntil
	shop := ev("03:20:00.000", election.Vacated, "shop", "shop-2", "node-2", 69)
	again := ev("03:20:00.000", election.Elected, "shop", "shop-3", "node-3", 70)
	again.VacancyKnown = true
	return &Moments{
		All: []election.Event{
			found("auth", "2", 5), found("billing", "1", 16), found("mail", "1", 31), found("shop", "2", 69), lost, why, won, shop, again,
		},
		Observed: []history.Observation{
			{Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: at("02:00:00.000"), To: at("03:30:00.000"), Ending: "stopped"},
			{Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: at("04:00:00.000"), To: Now(), Lasting: true},
		},
	}
}

// Events returns a page of events.
func (h *Moments) Events(_ context.Context, q history.EventQuery) (history.EventPage, error) {
	return pageOf(h.All, q, func(ev *election.Event) bool { return chosen(q.Types, ev.Type) && named(q.Names, ev) }), h.Err
}

// State computes the state from the events up to a moment.
func (h *Moments) State(_ context.Context, at time.Time) (history.State, error) {
	h.Reads++
	st := history.State{At: at}
	for _, o := range h.Observed {
		if !o.From.After(at) {
			st.LastObserved, st.Observed = o.To, !at.After(o.To)
			if st.Observed {
				st.LastObserved = at
			}
		}
	}
	all := map[string]*election.Election{}
	for i := range h.All {
		if ev := &h.All[i]; !ev.Time.After(at) && ev.Key != "" {
			if all[ev.Key] == nil {
				e := &election.Election{Name: ev.Election, Datacenter: ev.Datacenter, Exists: true, Pair: election.Pair{Key: ev.Key, CreateIndex: ev.CreateIndex}}
				all[ev.Key] = e
				st.Elections = append(st.Elections, e)
			}
			fold(all[ev.Key], ev)
		}
	}
	slices.SortFunc(st.Elections, election.Compare)
	return st, h.Err
}

func fold(e *election.Election, ev *election.Event) {
	last := len(e.Terms) - 1
	switch ev.Type {
	case election.Elected:
		e.Leader, e.Term, e.Since, e.SinceKnown = ev.Leader, ev.Term, ev.Time, !ev.Gap
		e.Pair.Session, e.Pair.LockIndex = ev.Session, ev.Term
		e.VacantSince, e.VacantSinceKnown, e.LockDelayUntil = time.Time{}, false, time.Time{}
		e.Terms = append(e.Terms, election.Term{
			Number: ev.Term, CreateIndex: ev.CreateIndex, Session: ev.Session, Leader: ev.Leader, Node: ev.Node, Start: ev.Time, StartKnown: !ev.Gap,
		})
	case election.Vacated:
		e.Leader, e.Pair.Session, e.Since = "", "", time.Time{}
		e.VacantSince, e.VacantSinceKnown = ev.Time, true
		e.Terms[last].End = ev.Time
	case election.Explained:
		e.LockDelayUntil, e.Terms[last].Cause, e.Terms[last].Evidence, e.Terms[last].AliveUntil = ev.LockDelayUntil, ev.Cause, ev.Evidence, ev.AliveUntil
	default:
	}
}

// Observations lists the periods that overlap a range.
func (h *Moments) Observations(_ context.Context, r history.Range) (all []history.Observation, err error) {
	for _, o := range h.Observed {
		if !o.To.Before(r.Since) && (r.Until.IsZero() || !o.From.After(r.Until)) {
			all = append(all, o)
		}
	}
	return all, h.Err
}

// Terms returns all terms of one election that began before a moment. Each term includes its end, even if the end is
// after the moment.
func (h *Moments) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	var page history.TermPage
	st, err := h.State(ctx, Now())
	for _, e := range st.Elections {
		for _, t := range e.Terms {
			if slices.Contains(q.Names, e.Key()) && (q.Until.IsZero() || !t.Start.After(q.Until)) {
				page.Items = append([]history.Term{{Term: t, Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter}}, page.Items...)
			}
		}
	}
	return page, err
}
