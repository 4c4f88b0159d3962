package history_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
)

// source is a history with one state.
type source struct {
	history.Source
	state    history.State
	observed []history.Observation
	err      error
}

func (s source) State(context.Context, time.Time) (history.State, error) {
	return s.state, s.err
}

func (s source) Observations(context.Context, history.Range) ([]history.Observation, error) {
	return s.observed, s.err
}

func TestRecall(t *testing.T) {
	at := func(minute int) time.Time { return start().Add(time.Duration(minute) * time.Minute) }
	led := func(key string, since time.Time) *election.Election {
		return &election.Election{Datacenter: "dc1", Pair: election.Pair{Key: key, Session: "s"}, Since: since, Terms: []election.Term{{Start: since}}}
	}
	s := source{
		state: history.State{Known: []*election.Election{
			led("other", at(3)), led("service/web/leader", at(5)), {Datacenter: "dc1", Pair: election.Pair{Key: "vault/lock"}, VacantSince: at(7)},
		}},
		observed: []history.Observation{{Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: at(0), To: at(20)}},
	}
	read, err := history.Recall(t.Context(), s, at(60))
	if err != nil || len(read.Elections) != 3 {
		t.Fatalf("%+v, %v", read, err)
	}
	for i, want := range []time.Time{at(3), at(20), at(7)} {
		if got := read.Elections[i].RecordedUntil; !got.Equal(want) {
			t.Errorf("election %d: %s, want %s", i, got, want)
		}
	}
	failed := errors.New("unreachable")
	if _, err := history.Recall(t.Context(), source{err: failed}, at(60)); !errors.Is(err, failed) {
		t.Error(err)
	}
}
