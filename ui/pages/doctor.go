// Package pages contains the overlays that do not act: the help, the doctor, discovered locks, and the menu of commands.
package pages

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
	"electop/ui/scene"
)

// Check is one line of the doctor's report. Its strings are sanitized.
type Check struct {
	Subject string
	Status  string // the degree to which it works: "ok", "limited", "denied" or "unknown"
	Detail  string
	// Rule is the missing ACL rule. It is empty if there is none.
	Rule string
}

// doctorTime is the timeout of the checks. The user waits during them.
const doctorTime = 15 * time.Second

// Doctor returns the page of :doctor. examine runs off the event loop. After an error, it returns the checks before the
// error.
func Doctor(ctx context.Context, examine func(context.Context) ([]Check, error)) *scene.Overlay {
	var at time.Time
	var checks []Check
	var failure error
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Doctor"}}
	start := func() {
		o.Task = kit.Read(ctx, doctorTime, func(ctx context.Context) kit.Apply {
			found, err := examine(ctx)
			return func() tea.Cmd {
				checks, failure, at = found, err, o.S.Now
				return nil
			}
		})
	}
	start()
	o.Write = func(page *kit.Page) {
		if o.Buttons, o.State = nil, nil; o.Task.Running() {
			page.Para(kit.Accent, "Checking what this address and token can read and do.")
			return
		}
		o.Buttons = []kit.Button{{Key: "r", Hint: "run again", Do: func() any { start(); return nil }}}
		o.State = kit.Quiet.Spans("as of " + kit.ClockTime(at))
		if failure != nil {
			page.Para(kit.Bad, "The check failed: "+scene.Clean(failure.Error()))
			page.Blank()
		}
		WriteChecks(page, checks)
	}
	return o
}

// subjectWidth is the maximum width of the first column. statusWidth is the width of the second column.
const subjectWidth, statusWidth = 34, 9

// WriteChecks writes the checks as a table. A subject that is too long for the first column is on a line above.
func WriteChecks(page *kit.Page, checks []Check) {
	subject := 0
	for _, c := range checks {
		subject = max(subject, min(subjectWidth, kit.Width(scene.Clean(c.Subject))))
	}
	subject = min(subject, page.Width/3) // a narrow window needs cells for the details
	column := subject + 2 + statusWidth
	for _, c := range checks {
		name := scene.Clean(c.Subject)
		if kit.Width(name) > subject {
			page.Para(kit.Strong, name)
			name = ""
		}
		page.Beside([]kit.Span{kit.Strong.Span(kit.PadTo(name, subject+2)), roleOf(c.Status).Span(kit.PadTo(c.Status, statusWidth))},
			column, kit.Text.Span(scene.Clean(c.Detail)))
		if c.Rule != "" {
			page.Beside(nil, column, kit.Quiet.Span("missing rule: "), kit.Accent.Span(scene.Clean(c.Rule)))
		}
	}
}

// roleOf returns the colour of a status.
func roleOf(status string) kit.Role {
	switch status {
	case "ok":
		return kit.Led
	case "limited":
		return kit.Delay
	case "denied":
		return kit.Bad
	}
	return kit.Quiet
}
