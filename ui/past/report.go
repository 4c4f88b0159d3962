package past

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
	"electop/ui/scene"
)

const (
	// reportPeriod is the default period of a report.
	reportPeriod = 24 * time.Hour
	// reportTime is the timeout of a report.
	reportTime = time.Minute
)

// Reporter writes incident reports, one at a time. Only the event loop may use it.
type Reporter struct {
	ctx   context.Context //nolint:containedctx // ends the reports with the program
	on    bool
	write func(ctx context.Context, of []scene.Subject, since time.Time) (file string, err error)
	do    func(scene.Action) tea.Cmd
	task  *kit.Task
}

// NewReporter returns a Reporter that shows its results with do. on is false without a history. write writes a
// report and returns the name of its file.
func NewReporter(ctx context.Context, on bool, write func(context.Context, []scene.Subject, time.Time) (string, error), do func(scene.Action) tea.Cmd) *Reporter {
	return &Reporter{ctx: ctx, on: on, write: write, do: do}
}

// Start writes a report.
func (r *Reporter) Start(a scene.WriteReport) (cmd tea.Cmd) {
	switch {
	case !r.on:
		return r.do(scene.Say{Role: kit.Delay, Text: "Writing a report requires a history (--history)."})
	case r.task.Running():
		return r.do(scene.Say{Role: kit.Delay, Text: "No report: another report is still in progress."})
	}
	r.task, cmd = kit.Read(r.ctx, reportTime, func(ctx context.Context, _ func(int, int)) (string, error) {
		return r.write(ctx, a.Of, a.Since)
	}, func(file string, err error) tea.Cmd {
		if err != nil {
			return r.do(scene.Say{Role: kit.Bad, Text: "The report was not written: " + scene.Clean(err.Error())})
		}
		return r.do(scene.Say{Role: kit.Led, Text: "Wrote " + scene.Clean(file)})
	})
	started := "Writing a report about " + kit.Plural(len(a.Of), "election") + " since " + a.Since.Format("Jan 02 15:04") + "."
	return tea.Batch(cmd, r.do(scene.Say{Role: kit.Quiet, Text: started}))
}

// ReportOn requests a report about e, which is nil if no election is selected. since is the text that the user typed;
// an empty text means one day.
func ReportOn(e *election.Election, since string, now time.Time) scene.Action {
	at, invalid := ReportSince(since, now.Add(-reportPeriod), now)
	if invalid != nil {
		return invalid
	}
	if e == nil {
		return scene.Say{Role: kit.Delay, Text: "No report: no election is selected."}
	}
	return scene.WriteReport{Of: []scene.Subject{{Datacenter: e.Datacenter, Key: e.Key()}}, Since: at}
}

// ReportSince parses the time that the user typed as text. If text is empty, it returns the value of otherwise. If
// text is not a valid time, invalid is the action that shows the error.
func ReportSince(text string, otherwise, now time.Time) (at time.Time, invalid scene.Action) {
	if text == "" {
		return otherwise, nil
	}
	at, err := history.ParseMoment(text, now)
	if err != nil {
		return at, notAMoment(":report", err)
	}
	return at, nil
}

// ShowSince requests the events since a moment. text is what the user typed; "" and "all" show all events.
func ShowSince(text string, now time.Time) scene.Action {
	if text == "" || text == "all" {
		return scene.ShowSince{}
	}
	at, err := history.ParseMoment(text, now)
	if err != nil {
		return notAMoment(":since", err)
	}
	return scene.ShowSince{At: at}
}

func notAMoment(command string, err error) scene.Action {
	return scene.Say{Role: kit.Delay, Text: command + ": " + err.Error() + "."}
}
