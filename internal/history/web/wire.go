package web

import (
	"encoding/json"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// eventFields contains the fields of an event that `electop watch -o json` does not print.
type eventFields struct {
	TimeNS           int64         `json:"time_ns"`
	VacancyNS        time.Duration `json:"vacancy_ns,omitempty"`
	HeldNS           time.Duration `json:"held_ns,omitempty"`
	LockDelayUntilNS int64         `json:"lock_delay_until_ns,omitempty"`
	SeenUntilNS      int64         `json:"seen_until_ns,omitempty"`
	ModifyIndex      uint64        `json:"modify_index,omitempty"`
	Gap              bool          `json:"gap,omitempty"`
	Restored         bool          `json:"restored,omitempty"`
}

func encodeEvent(e election.Event) ([]byte, error) {
	known, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	more, err := json.Marshal(eventFields{
		TimeNS: history.Nanos(e.Time), VacancyNS: e.Vacancy, HeldNS: e.Held, LockDelayUntilNS: history.Nanos(e.LockDelayUntil),
		SeenUntilNS: history.Nanos(e.SeenUntil), ModifyIndex: e.ModifyIndex, Gap: e.Gap, Restored: e.Restored,
	})
	if err != nil {
		return nil, err
	}
	// Both parts are JSON objects with at least one field.
	return append(append(known[:len(known)-1], ','), more[1:]...), nil
}

// word makes a fixed word from the recorder, such as an event type, safe to print, because commands print such words
// unchanged.
func word[T ~string](v T) T { return T(sanitize.Line(string(v), 40)) }

func decodeEvent(text []byte) (e election.Event, err error) {
	if err := json.Unmarshal(text, &e); err != nil {
		return e, err
	}
	var f eventFields
	err = json.Unmarshal(text, &f)
	e.Time, e.LockDelayUntil, e.SeenUntil = history.Moment(f.TimeNS), history.Moment(f.LockDelayUntilNS), history.Moment(f.SeenUntilNS)
	e.Type, e.Cause = word(e.Type), word(e.Cause)
	e.Vacancy, e.Held, e.ModifyIndex, e.Gap, e.Restored = f.VacancyNS, f.HeldNS, f.ModifyIndex, f.Gap, f.Restored
	return e, err
}

// termFields contains a term without its election.
type termFields struct {
	Term        uint64         `json:"term"`
	CreateIndex uint64         `json:"create_index"`
	Leader      string         `json:"leader"`
	Session     string         `json:"session"`
	Node        string         `json:"node,omitempty"`
	From        string         `json:"from"`
	FromNS      int64          `json:"from_ns"`
	FromKnown   bool           `json:"from_known"`
	To          string         `json:"to,omitempty"`
	ToNS        int64          `json:"to_ns,omitempty"`
	SeenUntil   string         `json:"seen_until,omitempty"`
	SeenUntilNS int64          `json:"seen_until_ns,omitempty"`
	Cause       election.Cause `json:"cause,omitempty"`
	Guess       bool           `json:"guess,omitempty"`
	Evidence    string         `json:"evidence,omitempty"`
}

func newTermFields(t *election.Term) termFields {
	return termFields{
		Term: t.Number, CreateIndex: t.CreateIndex, Leader: t.Leader, Session: t.Session, Node: t.Node,
		From: election.FormatTime(t.Start), FromNS: history.Nanos(t.Start), FromKnown: t.StartKnown,
		To: election.FormatTime(t.End), ToNS: history.Nanos(t.End), SeenUntil: election.FormatTime(t.SeenUntil), SeenUntilNS: history.Nanos(t.SeenUntil),
		Cause: t.Cause, Guess: t.Guess, Evidence: t.Evidence,
	}
}

func (f *termFields) decode() election.Term {
	return election.Term{
		Number: f.Term, CreateIndex: f.CreateIndex, Session: f.Session, Leader: f.Leader, Node: f.Node,
		Start: history.Moment(f.FromNS), StartKnown: f.FromKnown, End: history.Moment(f.ToNS), SeenUntil: history.Moment(f.SeenUntilNS),
		Cause: word(f.Cause), Guess: f.Guess, Evidence: f.Evidence,
	}
}

// termJSON has the fields of `electop history --terms -o json`. A term that has not ended has no duration.
type termJSON struct {
	Election   string `json:"election"`
	Key        string `json:"key"`
	Datacenter string `json:"datacenter"`
	termFields
	Held             string        `json:"held,omitempty"`
	HeldMS           int64         `json:"held_ms,omitempty"`
	HeldKnown        bool          `json:"held_known"`
	By               string        `json:"by,omitempty"`
	LockDelayUntil   string        `json:"lock_delay_until,omitempty"`
	LockDelayUntilNS int64         `json:"lock_delay_until_ns,omitempty"`
	Vacancy          string        `json:"vacancy,omitempty"`
	VacancyMS        *int64        `json:"vacancy_ms,omitempty"`
	VacancyNS        time.Duration `json:"vacancy_ns,omitempty"`
}

func encodeTerm(t history.Term) ([]byte, error) {
	j := termJSON{
		Election: t.Election, Key: t.Key, Datacenter: t.Datacenter, termFields: newTermFields(&t.Term), By: t.By,
		LockDelayUntil: election.FormatTime(t.LockDelayUntil), LockDelayUntilNS: history.Nanos(t.LockDelayUntil),
	}
	if t.Over() {
		held := t.Held(t.End)
		j.Held, j.HeldMS, j.HeldKnown = election.FormatDuration(held), held.Milliseconds(), t.HeldKnown()
	}
	if t.VacancyKnown {
		ms := t.Vacancy.Milliseconds()
		j.Vacancy, j.VacancyMS, j.VacancyNS = election.FormatDuration(t.Vacancy), &ms, t.Vacancy
	}
	return json.Marshal(j)
}

func decodeTerm(text []byte) (t history.Term, err error) {
	var j termJSON
	err = json.Unmarshal(text, &j)
	return history.Term{
		Term: j.decode(), Election: j.Election, Key: j.Key, Datacenter: j.Datacenter, By: j.By,
		Vacancy: j.VacancyNS, VacancyKnown: j.VacancyMS != nil, LockDelayUntil: history.Moment(j.LockDelayUntilNS),
	}, err
}

type observationJSON struct {
	Observer   string   `json:"observer"`
	Datacenter string   `json:"datacenter"`
	Patterns   []string `json:"patterns"`
	From       string   `json:"from"`
	FromNS     int64    `json:"from_ns"`
	To         string   `json:"to"`
	ToNS       int64    `json:"to_ns"`
	Lasting    bool     `json:"lasting"`
	Ending     string   `json:"ending,omitempty"`
	Dropped    uint64   `json:"dropped"`
}

func encodeObservation(o history.Observation) ([]byte, error) {
	return json.Marshal(observationJSON{
		Observer: o.Observer, Datacenter: o.Datacenter, Patterns: o.Patterns, From: election.FormatTime(o.From), FromNS: history.Nanos(o.From),
		To: election.FormatTime(o.To), ToNS: history.Nanos(o.To), Lasting: o.Lasting, Ending: o.Ending, Dropped: o.Dropped,
	})
}

func decodeObservation(text []byte) (history.Observation, error) {
	var j observationJSON
	err := json.Unmarshal(text, &j)
	return history.Observation{
		Observer: j.Observer, Datacenter: j.Datacenter, Patterns: j.Patterns, From: history.Moment(j.FromNS), To: history.Moment(j.ToNS),
		Lasting: j.Lasting, Ending: j.Ending, Dropped: j.Dropped,
	}, err
}

// actionJSON is an action. Its field time replaces that of the embedded struct.
type actionJSON struct {
	Time   string `json:"time"`
	TimeNS int64  `json:"time_ns"`
	history.Action
}

func encodeAction(a history.Action) ([]byte, error) {
	return json.Marshal(actionJSON{Time: election.FormatTime(a.Time), TimeNS: history.Nanos(a.Time), Action: a})
}

func decodeAction(text []byte) (history.Action, error) {
	var j actionJSON
	err := json.Unmarshal(text, &j)
	j.Action.Time, j.Kind, j.Result = history.Moment(j.TimeNS), word(j.Kind), word(j.Result)
	return j.Action, err
}

type electionJSON struct {
	Election string `json:"election"`
	Key      string `json:"key"`
}

func encodeElection(e history.Election) ([]byte, error) {
	return json.Marshal(electionJSON{Election: e.Name, Key: e.Key})
}

func decodeElection(text []byte) (history.Election, error) {
	var j electionJSON
	err := json.Unmarshal(text, &j)
	return history.Election{Name: j.Election, Key: j.Key}, err
}
