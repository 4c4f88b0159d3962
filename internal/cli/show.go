package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
		Long: `Show one election in detail: leader, session, checks, likely candidates, what a
release and a destroy would do to the leader, risks, and why there is no leader.

Consul does not record waiters: candidates are inferred and shown with the
reason. No read shows whether a lock-delay is active; --probe finds out. It
tries to acquire the key for a session that cannot exist, which Consul always
refuses. No key changes, but Consul writes one entry to its Raft log, except
while a lock-delay is active. The token needs write on the key, and --read-only
forbids --probe.`,
		Example:           "  electop show web\n  electop show -o json service/web/leader\n  electop show --probe web",
		Args:              exactName,
		ValidArgsFunction: completeNames(o),
		RunE:              func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args[0]) },
	}
	outputFlag(cmd, &s.output, "text", "json")
	cmd.Flags().BoolVar(&s.probe, "probe", false, "ask Consul whether a lock-delay is active; writes one Raft log entry and needs write on the key")
	return cmd
}

func (s *show) run(ctx context.Context, name string) error {
	if s.probe && s.o.readOnly {
		return usagef("--read-only forbids --probe: it is a write to Consul, although no key changes")
	}
	client, ps, err := s.o.prepare()
	if err != nil {
		return err
	}
	defer client.Close()
	snapshot, err := look(ctx, client, ps)
	if err != nil {
		return err
	}
	e, err := lookup{s.d, client, ps, snapshot}.resolve(ctx, name)
	if err != nil {
		return err
	}
	in := survey(ctx, client, snapshot, e)
	var probeErr error // reported after what could be shown
	if s.probe {
		ctx, cancel := context.WithTimeout(ctx, firstContact)
		defer cancel()
		found, err := consulx.ProbeLockDelay(ctx, client, e.Key())
		if err == nil {
			in.probed(found)
		}
		probeErr = err
	}
	if err := s.write(ctx, client, e, in, snapshot.At); err != nil {
		return err
	}
	return probeErr
}

func (s *show) write(ctx context.Context, client *consulx.Client, e *election.Election, in assessment, now time.Time) error {
	if s.output == "json" {
		return writeElectionJSON(s.d.stdout, e, in, now)
	}
	return writeElection(s.d.stdout, e, readChecks(ctx, client, e), in, now)
}

// readChecks reads the checks of the holder's node, if there is one.
func readChecks(ctx context.Context, client *consulx.Client, e *election.Election) *election.NodeChecks {
	if e.Session == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	checks := consulx.NodeChecks(ctx, client, e.Session.Node)
	return &checks
}

// writeElectionJSON writes the element of `list -o json` with what else is known.
func writeElectionJSON(w io.Writer, e *election.Election, in assessment, now time.Time) error {
	text, err := e.JSON(now)
	if err != nil {
		return err
	}
	more, err := json.Marshal(in)
	if err != nil {
		return err
	}
	text = append(append(bytes.TrimSuffix(text, []byte("}")), ','), more[1:]...)
	var b bytes.Buffer
	if err := json.Indent(&b, sanitize.JSON(text), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

func writeElection(w io.Writer, e *election.Election, checks *election.NodeChecks, in assessment, now time.Time) error {
	tw := newColumns(w)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tw, "%s\t%s\n", name, sanitize.Line(fmt.Sprintf(format, args...), 1000))
	}
	row("Election", "%s", e.Name)
	row("Key", "%s", e.Key())
	row("Datacenter", "%s", e.Datacenter)
	row("State", "%s", e.State(now))
	row("Leader", "%s", leaderText(e))
	if in.why != "" {
		row("Why", "%s", in.why)
	}
	row("Term", "%s", termText(e))
	row("Indexes", "created %d, modified %d", e.Pair.CreateIndex, e.Pair.ModifyIndex)
	row("Flags", "%s", flagsText(e.Pair.Flags))
	if e.Pair.Held() {
		sessionRows(row, e, checks)
	}
	in.rows(row)
	in.effectRows(row, e)
	fmt.Fprintf(tw, "Value\t%s\n", byteCount(len(e.Pair.Value)))
	if err := tw.Flush(); err != nil {
		return err
	}
	return writeValue(w, e.Pair.Value)
}

func leaderText(e *election.Election) string {
	switch {
	case e.Exists && e.Pair.Held():
		return e.Leader
	case e.IsSemaphore():
		return "a semaphore has holders, no leader"
	}
	return "no leader"
}

func termText(e *election.Election) string {
	if e.Overwritten() {
		return "unknown: the key was written without the lock (LockIndex is 0 while it is held)"
	}
	return fmt.Sprint(e.Term)
}

func flagsText(flags uint64) string {
	switch flags {
	case election.LockFlag:
		return fmt.Sprintf("%d (a lock of Consul's api or `consul lock`)", flags)
	case election.SemaphoreFlag:
		return fmt.Sprintf("%d (a semaphore of Consul's api or `consul lock -n`)", flags)
	}
	return fmt.Sprint(flags)
}

func sessionRows(row func(string, string, ...any), e *election.Election, checks *election.NodeChecks) {
	row("Session", "%s", e.Pair.Session)
	s := e.Session
	if s == nil {
		row("", "could not be read with this token")
		return
	}
	row("  name", "%s", orNone(s.Name))
	row("  node", "%s", s.Node)
	if s.TTL > 0 {
		row("  TTL", "%s (Consul invalidates it %s after the last renewal)", s.TTL, 2*s.TTL)
	} else {
		row("  TTL", "none")
	}
	row("  behavior", "%s", s.Behavior)
	row("  lock-delay", "%s", lockDelayText(s))
	row("  node checks", "%s", checksText(s.NodeChecks, checks))
	row("  service checks", "%s", checksText(s.ServiceChecks, checks))
}

func lockDelayText(s *election.Session) string {
	if s.LockDelay > election.MaxLockDelay {
		return fmt.Sprintf("%s (Consul enforces %s)", s.LockDelay, election.MaxLockDelay)
	}
	return s.LockDelay.String()
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func checksText(ids []string, read *election.NodeChecks) string {
	if len(ids) == 0 {
		return "none"
	}
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, checkText(id, read))
	}
	return strings.Join(texts, ", ")
}

func checkText(id string, read *election.NodeChecks) string {
	if read != nil && read.Err != "" {
		return id + " (" + read.Err + ")"
	}
	if read == nil || read.Partial && !slices.ContainsFunc(read.Checks, func(c election.Check) bool { return c.ID == id }) {
		return id + " (not readable with this token)"
	}
	for _, c := range read.Checks {
		if c.ID == id {
			text := id + " " + c.Status
			if c.Status != election.StatusPassing && c.Output != "" {
				text += ": " + sanitize.Line(c.Output, 200)
			}
			return text
		}
	}
	return id + " (no longer registered)"
}

func byteCount(n int) string { return election.Plural(uint64(n), "byte") } //nolint:gosec // lengths are not negative

// writeValue shows a value: JSON indented, other text line by line, bytes as a
// hex dump.
func writeValue(w io.Writer, value []byte) error {
	if len(value) == 0 {
		return nil
	}
	text := hex.Dump(value)
	if utf8.Valid(value) {
		var b bytes.Buffer
		if json.Indent(&b, value, "", "  ") == nil {
			value = b.Bytes()
		}
		text = string(value)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if _, err := fmt.Fprintln(w, "  "+sanitize.Text(strings.ReplaceAll(line, "\t", "    "))); err != nil {
			return err
		}
	}
	return nil
}
