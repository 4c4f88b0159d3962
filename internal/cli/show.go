package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/detail"
	"electop/ui/kit"
	"electop/ui/scene"
)

func newShowCommand(o *options) *cobra.Command {
	var tests bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show one election in detail",
		Long: `Show one election in detail: leader, session, checks, likely candidates, the
effect of a release and of a destroy, risks, and why there is no leader.

In etcd, a queue shows the candidates in their order. Consul does not record
waiters, so electop infers the candidates and shows the reason for each. No read
shows whether a lock-delay is active. --probe tests this: electop tries to
acquire the key for a session that cannot exist. Consul always rejects this
attempt and changes no key, but writes one entry to its Raft log, except while a
lock-delay is active. The token needs write permission on the key, and
--read-only forbids --probe.`,
		Example:           "  electop show web\n  electop show -o json service/web/leader\n  electop show --probe web",
		Args:              arguments(1, 1),
		ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveNoFileComp),
		RunE:              work(func(ctx context.Context, names []string) error { return show(ctx, o, names[0], tests) }),
	}
	o.outputFlag(cmd, "text")
	cmd.Flags().BoolVar(&tests, "probe", false, "test whether a lock-delay is active; writes one Raft log entry and needs write permission on the key")
	return cmd
}

func show(ctx context.Context, o *options, name string, tests bool) error {
	if tests && o.readOnly {
		return usagef("--read-only forbids --probe: a probe is a write to Consul, although it changes no key")
	}
	ls, err := o.readEach(ctx, true)
	if err != nil {
		return err
	}
	l, e, err := ls.election(ctx, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	l.snapshot.Checks = l.leaderChecks(ctx, []*election.Election{e})
	around := l.Survey(ctx, []string{e.Key()})[0]
	l.snapshot.Surroundings = &around
	view := &scene.Scene{Shown: l.snapshot, Live: l.snapshot, AsOf: l.snapshot.At, Now: l.snapshot.At, Selected: e}
	var known scene.InsightCache
	var probe *consulx.ProbeResult
	var probeErr error // the error is reported after the election is shown
	if tests {
		found, err := consulx.ProbeLockDelay(ctx, l.client(), e.Key())
		if probeErr = err; err == nil {
			probe, known.LockDelay, known.Probed = &found, found.State, e
		}
	}
	view.Look(&known)
	for i := range known.In.Advice {
		l.pasteable(&known.In.Advice[i])
	}
	l.pasteable(known.In.Fix)
	err = o.document(electionJSON(view, probe), func(page *kit.Page) { l.writeElection(page, view, probe) })
	return cmp.Or(err, probeErr, ls.result())
}

// election returns the only election with this name, and its datacenter.
func (ls lookups) election(ctx context.Context, name string) (in lookup, e *election.Election, err error) {
	found, err := ls.elections(ctx, []string{name})
	var names []string
	for _, e = range found {
		in = ls.of(e)
		names = append(names, clean(e.Datacenter))
	}
	if len(names) > 1 {
		err = usagef("%q exists in the %ss %s; choose one with --%s", clean(name), ls.kind, strings.Join(names, ", "), ls.kind)
	}
	return in, e, err
}

// writeElection writes the pages of the dashboard about the selected election, and what each action does.
func (l lookup) writeElection(page *kit.Page, s *scene.Scene, probe *consulx.ProbeResult) {
	s.Sym = page.Sym
	e := s.Selected
	field := func(label, text string) { page.Field(label, kit.Text.Span(sanitize.Line(text, 2000))) }
	field("Election", e.Name)
	field("Key", e.Key())
	field("Datacenter", e.Datacenter)
	in := s.Insight()
	state := e.State(s.AsOf)
	if state == election.Vacant && in.LockDelay == insight.LockDelayed {
		state = election.InLockDelay
	}
	field("State", string(state))
	if probe != nil {
		field("Probe", probeText(*probe))
	}
	if software := insight.DetectSoftware(e, in.Around); software != nil {
		field("Software", software.Name)
	}
	if e.Held() {
		release := insight.EffectOf(election.ActionRelease, e, in.Around, in.Likely())
		destroy := insight.EffectOf(election.ActionDestroy, e, in.Around, in.Likely())
		advise := func(label, text string) { page.Advice(label, sanitize.Line(l.paste(text), 2000)) }
		advise("Release", cmp.Or(release.Refusal, strings.Join(append([]string{release.Delay, release.Key, release.Holder}, release.Warnings...), " ")))
		warnings := election.Without(destroy.Warnings, func(text string) bool { return slices.Contains(release.Warnings, text) })
		said := strings.TrimSuffix(destroy.Delay+" "+destroy.Key+" "+destroy.Holder, " "+release.Holder)
		advise("Destroy", cmp.Or(destroy.Refusal, strings.Join(append([]string{said}, warnings...), " ")))
		if better := cmp.Or(release.Better, destroy.Better); better != "" {
			field("Step down", better)
		}
	}
	page.Blank()
	detail.Write(page, s)
}

func probeText(p consulx.ProbeResult) string {
	switch p.State {
	case insight.LockHeld:
		return "held by session " + sanitize.Line(p.Session, 40)
	case insight.LockDelayed:
		return "a lock-delay is active: Consul rejects every acquire"
	case insight.LockFree:
		return "free: no lock-delay is active; the next candidate that acquires the key leads"
	}
	return string(p.State)
}

// electionJSON returns the object of `list -o json` with more fields.
func electionJSON(s *scene.Scene, probe *consulx.ProbeResult) any {
	e, in := s.Selected, s.Insight()
	return struct {
		election.JSON
		WhyVacant  string               `json:"why_vacant,omitempty"`
		Candidates []insight.Candidate  `json:"candidates"`
		Semaphore  *election.Semaphore  `json:"semaphore,omitempty"`
		Software   *insight.Software    `json:"software,omitempty"`
		Advice     []insight.Finding    `json:"advice"`
		Unread     []string             `json:"unread,omitempty"`
		Probe      *consulx.ProbeResult `json:"probe,omitempty"`
	}{
		e.JSON(s.AsOf),
		in.Board.WhyVacant(e, insight.Facts{Now: s.AsOf, Connection: s.Live.Connection, Around: in.Around, Delay: in.LockDelay}, in.Likely()),
		append([]insight.Candidate{}, in.Candidates...), in.Semaphore, insight.DetectSoftware(e, in.Around),
		append([]insight.Finding{}, in.Advice...), in.Around.Unread(), probe,
	}
}
