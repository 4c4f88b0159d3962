package cli

import (
	"context"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/rescue"
	"electop/ui"
)

// fixer finds and resolves problems for the dashboard as `electop rescue` does.
type fixer struct {
	dashboard
	operator *consulx.Operator
}

// diagnose finds the problem of an election of a snapshot.
func (f fixer) diagnose(ctx context.Context, s *election.Snapshot, e *election.Election) ui.Diagnosis {
	in := rescue.Inspector{Client: f.client, Elections: s.Elections, Now: time.Now(), Probe: !f.readOnly}
	items := in.Inspect(ctx, []*election.Election{e})
	if len(items) == 0 {
		return ui.Diagnosis{}
	}
	i := items[0]
	d := ui.Diagnosis{Fix: i.Fix, Facts: i.Facts}
	if i.Writes() && !f.readOnly {
		d.Apply = func(ctx context.Context) insight.Outcome { return f.apply(ctx, i) }
	}
	return d
}

// apply applies a fix, and records it in the history.
func (f fixer) apply(ctx context.Context, i *rescue.Item) insight.Outcome {
	o := outcomeOf(insight.Outcome{Action: i.Action(), Target: i.Election.Target()}, i.Apply(ctx, f.client, f.operator))
	f.recorder.action(o)
	if o.Action != election.ActionDestroy {
		o.Action = election.ActionFix
	}
	return o
}
