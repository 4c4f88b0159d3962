package cli

import (
	"context"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/internal/rescue"
	"electop/ui"
)

// diagnose finds the problem with an election of a snapshot, as `electop rescue` does.
func (b dashboard) diagnose(ctx context.Context, s *election.Snapshot, e *election.Election) ui.Diagnosis {
	c := b.in(e.Datacenter)
	if c == nil {
		return ui.Diagnosis{}
	}
	in := rescue.Inspector{Client: c.client, Elections: s.Elections, Now: time.Now(), Probe: !b.readOnly}
	items := in.Inspect(ctx, []*election.Election{e})
	if len(items) == 0 {
		return ui.Diagnosis{}
	}
	i := items[0]
	d := ui.Diagnosis{Fix: i.Fix, Facts: i.Facts}
	if i.Writes() && !b.readOnly {
		d.Apply = func(ctx context.Context) insight.Outcome { return c.fix(ctx, i) }
	}
	return d
}

// fix applies a fix, and records it in the history.
func (c *datacenter) fix(ctx context.Context, i *rescue.Item) insight.Outcome {
	o := outcomeOf(insight.Outcome{Action: i.Action(), Target: i.Election.Target()}, i.Apply(ctx, c.client, c.operator))
	c.recorder.action(o)
	if o.Action != election.ActionDestroy {
		o.Action = election.ActionFix
	}
	return o
}
