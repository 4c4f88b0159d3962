package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
)

type show struct {
	d      deps
	o      *options
	output string
	probe  bool
}

func newShowCommand(d deps, o *options) *cobra.Command {
	s := &show{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show one election in detail",
		Long: `Show one election in detail: leader, session, checks, likely candidates, the
effect of a release and of a destroy, risks, and why there is no leader.

Consul does not record waiters, so electop infers the candidates and shows the
reason for each. No read shows whether a lock-delay is active. --probe tests
this: electop tries to acquire the key for a session that cannot exist. Consul
always rejects this attempt and changes no key, but writes one entry to its Raft
log, except while a lock-delay is active. The token needs write permission on
the key, and --read-only forbids --probe.`,
		Example:           "  electop show web\n  electop show -o json service/web/leader\n  electop show --probe web",
		Args:              exactName,
		ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args[0]) },
	}
	outputFlag(cmd, &s.output, "text", "json")
	cmd.Flags().BoolVar(&s.probe, "probe", false, "test whether a lock-delay is active; writes one Raft log entry and needs write permission on the key")
	return cmd
}

func (s *show) run(ctx context.Context, name string) error {
	if s.probe && s.o.readOnly {
		return usagef("--read-only forbids --probe: a probe is a write to Consul, although it changes no key")
	}
	ls, err := s.o.open(ctx, s.d)
	if err != nil {
		return err
	}
	if err := ls.readExisting(ctx, s.o.recorded(s.d)); err != nil {
		return err
	}
	l, e, err := ls.election(ctx, name)
	if err != nil {
		return err
	}
	s.readChecks(ctx, l, e)
	a := assess(ctx, l.client, l.snapshot, e)
	var probeErr error // the error is reported after the election is shown
	if s.probe {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		found, err := consulx.ProbeLockDelay(ctx, l.client, e.Key())
		if err == nil {
			a.applyProbe(found)
		}
		probeErr = err
	}
	if err := s.write(l.snapshot, e, a); err != nil {
		return err
	}
	return cmp.Or(probeErr, ls.result())
}

// election returns the only election with this name, and its datacenter.
func (ls lookups) election(ctx context.Context, name string) (in lookup, e *election.Election, err error) {
	found, err := ls.elections(ctx, []string{name})
	var names []string
	for i, here := range found {
		if len(here) > 0 {
			in, e = ls.all[i], here[0]
			names = append(names, sanitize.Line(in.config.Datacenter, 60))
		}
	}
	if len(names) > 1 {
		err = usagef("%q exists in the datacenters %s; choose one with --datacenter", sanitize.Line(name, 100), strings.Join(names, ", "))
	}
	return in, e, err
}

// readChecks reads the checks of the leader's node.
func (s *show) readChecks(ctx context.Context, l lookup, e *election.Election) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	l.readChecks(ctx, []*election.Election{e})
}

func (s *show) write(snap *election.Snapshot, e *election.Election, a assessment) error {
	if s.output == "json" {
		return writeElectionJSON(s.d.stdout, e, a, snap.At)
	}
	return writeElection(s.d.stdout, e, snap.ChecksOf(e), a, snap.At)
}
