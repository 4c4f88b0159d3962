package observe

import (
	"context"
	"slices"
	"time"

	"electop/consulx/observe/internal/evidence"
	"electop/election"
)

const (
	// investigationLimit bounds an investigation: the tracker must report the cause within a second of the loss.
	investigationLimit = 900 * time.Millisecond
	// maxInvestigations limits concurrent investigations. One investigation covers all losses of a response.
	maxInvestigations = 4
)

// losses returns the terms whose end was observed live, in the response answer.
func (o *Observer) losses(events []election.Event, answer election.Observation) []evidence.Loss {
	var all []evidence.Loss
	read, _ := answer.(election.KeysRead)
	for _, e := range events {
		if e.Type != election.Vacated || e.Initial {
			continue
		}
		_, exists := slices.BinarySearchFunc(read.Pairs, election.Pair{Key: e.Key}, byKey)
		all = append(all, evidence.Loss{Event: e, Session: o.sessions.Get(e.Session), Deleted: !exists})
	}
	return all
}

// investigate records the evidence for every loss.
func (o *Observer) investigate(ctx context.Context, all []evidence.Loss) {
	ctx, cancel := context.WithTimeout(ctx, investigationLimit)
	defer cancel()
	select {
	case o.investigations <- struct{}{}:
		defer func() { <-o.investigations }()
	case <-ctx.Done():
	}
	o.send(true, evidence.Find(ctx, o.client, all)...)
}
