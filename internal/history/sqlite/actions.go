package sqlite

import (
	"context"
	"database/sql"
	"time"

	"electop/election"
	"electop/internal/history"
)

// actionReach is the maximum time between an action and the observed end of its target's term. A write times out after
// 15 s, and a change is observed within 30 s.
const actionReach = int64(time.Minute)

// action stores an action. For each term that the action ended, it stores the operator as the cause.
func (s *store) action(ctx context.Context, a *history.Action) error {
	if _, err := s.Exec(ctx, `INSERT INTO actions (time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`, history.Nanos(a.Time), a.By, string(a.Kind), a.Datacenter, a.Key, a.Session,
		index(a.CreateIndex), index(a.Term), a.Leader, a.Node, a.Result, a.Detail); err != nil || a.Result != history.ResultDone {
		return err
	}
	stmt, err := s.Statement(ctx, `SELECT t.id, t.number, t.create_index, t.last_index, t.leader, t.node, ifnull(t.lock_delay_until, 0),
		e.id, (SELECT count(*) FROM restores r WHERE r.election = e.id), e.name, e.key, e.datacenter FROM terms t JOIN elections e ON e.id = t.election
		WHERE t.session = ? AND (? = '' OR e.key = ?) AND (? = 0 OR t.create_index = ?) AND (? = 0 OR t.number = ?)
		AND t.ended BETWEEN ? AND ? AND t.explained IS NOT NULL`)
	if err != nil {
		return err
	}
	create, number := index(a.CreateIndex), index(a.Term)
	rows, err := stmt.QueryContext(ctx, a.Session, a.Key, a.Key, create, create, number, number,
		history.Nanos(a.Time)-actionReach, history.Nanos(a.Time)+actionReach)
	if err != nil {
		return err
	}
	defer rows.Close()
	type ended struct {
		term int64
		sub  subject
		e    election.Event
	}
	var all []ended
	for rows.Next() {
		x := ended{e: election.Event{Time: a.Time, Type: election.Explained, Session: a.Session}}
		var number, create, last, delay int64
		if err := rows.Scan(&x.term, &number, &create, &last, &x.e.Leader, &x.e.Node, &delay,
			&x.sub.id, &x.sub.epoch, &x.e.Election, &x.e.Key, &x.e.Datacenter); err != nil {
			return err
		}
		x.e.Term, x.e.CreateIndex, x.e.ModifyIndex = unsigned(number), unsigned(create), unsigned(last)
		x.e.LockDelayUntil = history.Moment(delay)
		x.e.Cause, x.e.Evidence = operatorCause(string(a.Kind), a.By)
		all = append(all, x)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range all {
		if err := s.attribute(ctx, all[i].sub, all[i].term, &all[i].e, a); err != nil {
			return err
		}
	}
	return nil
}

// attribute stores the operator who ended a term. The observer in the same process may have already stored the cause,
// but without the operator's name.
func (s *store) attribute(ctx context.Context, sub subject, term int64, e *election.Event, a *history.Action) error {
	t, err := s.term(ctx, "WHERE id = ?", term)
	if err != nil || t == nil {
		return err
	}
	switch {
	case t.cause == string(e.Cause) && !t.guess:
		// Queries also return this evidence for the term's explained event, whose own evidence is NULL.
		_, err := s.Exec(ctx, "UPDATE terms SET by = ?, evidence = ? WHERE id = ? AND by IS NULL", a.By, e.Evidence, term)
		return err
	case a.Kind.Explains(election.Cause(t.cause), t.guess):
		return s.explain(ctx, sub, t, e, a.By)
	}
	return nil // the term had already ended for another reason
}

// Actions returns the recorded actions in a time range, oldest first.
func (f *File) Actions(ctx context.Context, r history.Range) ([]history.Action, error) {
	return list(ctx, f, scanAction, `SELECT time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail
		FROM actions WHERE time >= ? AND time <= ? ORDER BY time, id`, since(r), until(r))
}

func scanAction(rows *sql.Rows) (a history.Action, err error) {
	var at, create, term int64
	err = rows.Scan(&at, &a.By, &a.Kind, &a.Datacenter, &a.Key, &a.Session, &create, &term,
		&a.Leader, &a.Node, &a.Result, &a.Detail)
	a.Time, a.CreateIndex, a.Term = history.Moment(at), unsigned(create), unsigned(term)
	return a, err
}
