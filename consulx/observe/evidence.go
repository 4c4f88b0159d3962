package observe

import (
	"context"
	"slices"
	"time"

	"electop/consulx/observe/internal/evidence"
	"electop/election"
)

const (
	// investigationLimit is the timeout of an investigation: the tracker must report the cause within a second after
	// the loss.
	investigationLimit = 900 * time.Millisecond
	// maxInvestigations is the maximum number of concurrent investigations. One investigation covers all losses in a
	// response.
	maxInvestigations = 4
)

// losses returns the terms that ended according to events. answer is the observation that caused the events.
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

// investigate sends the evidence for every loss to the tracker.
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
