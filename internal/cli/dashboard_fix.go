package cli

import (
	"context"
	"slices"
	"time"

	"electop/election"
	"electop/internal/rescue"
	"electop/ui"
)

// diagnose finds the problem with an election of a snapshot, as `electop rescue` does. A fix destroys a session, so the
// diagnosis includes all elections that the session leads.
func (b dashboard) diagnose(ctx context.Context, s *election.Snapshot, e *election.Election) ui.Diagnosis {
	c := b.in(e.Datacenter)
	if c == nil {
		return ui.Diagnosis{}
	}
	chosen := []*election.Election{e}
	for _, other := range s.Elections {
		if other.ID() != e.ID() && e.Pair.Held() && other.Pair.HeldBy(e.Pair.Session) {
			chosen = append(chosen, other)
		}
	}
	in := rescue.Inspector{Client: c.client, Elections: s.Elections, Now: time.Now(), Probe: !b.readOnly}
	items := in.Inspect(ctx, chosen)
	at := slices.IndexFunc(items, func(i *rescue.Item) bool { return i.Election == e })
	if at < 0 {
		return ui.Diagnosis{}
	}
	i := items[at]
	return ui.Diagnosis{Fix: i.Fix, Facts: i.Facts, Destroy: i.Destroy, Ready: i.Ready}
}
