package uitest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Past is a history in memory.
type Past struct {
	history.Source // the methods that the components do not call
	// Recorded contains the events, oldest first. Held contains the terms, latest first.
	Recorded []election.Event
	Held     []history.Term
	Observed []history.Observation
	// Err is the error of every read.
	Err error
	// Hold, if set, blocks the reads of events until it is closed.
	Hold chan struct{}
	// Queries contains all queries for events, including failed queries.
	Queries []history.EventQuery
}

// Events returns a page of events.
func (p *Past) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	p.Queries = append(p.Queries, q)
	if p.Hold != nil {
		<-p.Hold
	}
	return pageOf(p.Recorded, q, func(ev *election.Event) bool {
		return chosen(q.Types, ev.Type) && chosen(q.Causes, ev.Cause) && named(q.Names, ev)
	}), p.failure(ctx)
}

// pageOf returns a page of events, of which the oldest is the first. A cursor is an order and the number of older events.
func pageOf(all []election.Event, q history.EventQuery, selected func(*election.Event) bool) (page history.EventPage) {
	order, step, i := "o", -1, len(all)
	if text, oldest := strings.CutPrefix(string(q.Page), "n"); oldest {
		order, step = "n", 1
		i, _ = strconv.Atoi(strings.TrimSuffix(text, ".0"))
	} else if q.Page != "" {
		i, _ = strconv.Atoi(string(q.Page[1:]))
	}
	for ; order == "n" && i < len(all) || order == "o" && i > 0; i += step {
		ev := &all[i+(step-1)/2]
		if !in(q.Range, ev.Time) || !selected(ev) {
			continue
		}
		if page.More = len(page.Items) == q.Limit; page.More {
			break
		}
		page.Items = append(page.Items, *ev)
	}
	page.Next = history.Cursor(fmt.Sprint(order, i))
	return page
}

func (p *Past) failure(ctx context.Context) error {
	if p.Err != nil {
		return p.Err
	}
	return ctx.Err()
}

func in(r history.Range, at time.Time) bool {
	return !at.Before(r.Since) && (r.Until.IsZero() || !at.After(r.Until))
}

func chosen[T comparable](all []T, one T) bool { return len(all) == 0 || slices.Contains(all, one) }

func named(names []string, ev *election.Event) bool {
	return len(names) == 0 || slices.Contains(names, ev.Election) || slices.Contains(names, ev.Key)
}

// Terms returns a page of terms. A cursor is the number of terms before the page.
func (p *Past) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	if err := p.failure(ctx); err != nil {
		return history.TermPage{}, err
	}
	from, _ := strconv.Atoi(string(q.Page))
	var page history.TermPage
	for i := from; i < len(p.Held) && !page.More; i++ {
		switch t := p.Held[i]; {
		case !slices.Contains(q.Names, t.Key):
		case len(page.Items) == q.Limit:
			page.More = true
		default:
			page.Items, page.Next = append(page.Items, t), history.Cursor(strconv.Itoa(i+1))
		}
	}
	return page, nil
}

// Observations lists the periods of observation.
func (p *Past) Observations(ctx context.Context, _ history.Range) ([]history.Observation, error) {
	return p.Observed, p.failure(ctx)
}

// State returns an empty state.
func (p *Past) State(context.Context, time.Time) (history.State, error) {
	return history.State{}, p.Err
}

// Close implements [history.Source]. It does nothing.
func (p *Past) Close() error { return nil }

// Yesterday returns a history of the elections of [Mixed]. billing had several leaders in the last five days. No
// observer was running last night.
func Yesterday() *Past {
	p := &Past{}
	night := ago(18 * time.Hour)
	p.Observed = []history.Observation{
		{Observer: "ana@bastion", Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: ago(240 * time.Hour), To: night},
		{Observer: "ana@bastion", Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: ago(time.Hour), To: Now(), Lasting: true},
	}
	for i := range 5 {
		start := ago(time.Duration(120-20*i) * time.Hour)
		p.addTerm("billing", i, start, start.Add(19*time.Hour+59*time.Minute+58*time.Second))
	}
	last := &p.Held[0]
	last.By, last.Cause, last.Evidence, last.AliveUntil = "ana@bastion", election.OperatorRelease, "released with electop by ana@bastion", last.End
	p.Recorded[len(p.Recorded)-1].Cause, p.Recorded[len(p.Recorded)-1].Evidence = last.Cause, last.Evidence
	return p
}

// addTerm adds a term with its events.
func (p *Past) addTerm(name string, k int, start, end time.Time) {
	leader, node := fmt.Sprintf("%s-%d", name, k%3+1), fmt.Sprintf("node-%d", k%3+1)
	e := election.Event{
		Time: start, Type: election.Elected, Election: name, Key: "service/" + name + "/leader", Datacenter: "dc1", Term: uint64(k + 3),
		CreateIndex: 40, ModifyIndex: uint64(100 + 10*k), Leader: leader, Session: SessionID(500 + k), Node: node,
		Vacancy: 2 * time.Second, VacancyKnown: k > 0, AliveUntil: start.Add(-32 * time.Second),
	}
	lost, why := e, e
	lost.Type, lost.Time, lost.Held, lost.HeldKnown, lost.VacancyKnown = election.Vacated, end, end.Sub(start), true, false
	why.Type, why.Time, why.Cause, why.Evidence = election.Explained, end.Add(300*time.Millisecond), election.CheckCritical, "service:"+leader+" on "+node+": HTTP GET http://10.0.0.5/health: 503"
	lost.AliveUntil, why.AliveUntil = time.Time{}, end.Add(-30*time.Second)
	p.Recorded = append(p.Recorded, e, lost, why)
	var vacancy *history.Seconds
	if k < 4 {
		vacancy = new(history.Seconds(2 * time.Second))
	}
	p.Held = append([]history.Term{{
		Term: election.Term{
			Number: e.Term, CreateIndex: 40, Session: e.Session, Leader: leader, Node: node, Start: start, StartKnown: k > 0, End: end,
			Cause: why.Cause, Evidence: why.Evidence, AliveUntil: why.AliveUntil,
		},
		Election: name, Key: e.Key, Datacenter: "dc1", Vacancy: vacancy,
	}}, p.Held...)
}

// Answer completes the reads of the history that an action requests, until further returns no action. It returns the
// number of reads. further sends the component the message that follows the result of a read.
func Answer(t testing.TB, a scene.Action, further func() scene.Action) (reads int) {
	t.Helper()
	for cmd := Command(a); cmd != nil; cmd = Command(a) {
		for cmd != nil {
			msg, ok := cmd().(kit.TaskMsg)
			if !ok {
				t.Fatal("a read does not end with its result")
			}
			cmd = msg.Apply()
		}
		if reads++; reads > 200 {
			t.Fatal("the component does not stop reading")
		}
		a = further()
	}
	return reads
}

// Command returns the command of an action, or nil if there is none.
func Command(a scene.Action) tea.Cmd {
	switch a := a.(type) {
	case scene.All:
		for _, one := range a {
			if cmd := Command(one); cmd != nil {
				return cmd
			}
		}
	case tea.Cmd:
		return a
	}
	return nil
}
