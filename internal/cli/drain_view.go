package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/election/insight"
	"electop/internal/drain"
	"electop/internal/output"
)

// liveRows is the maximum number of elections in the live table.
const liveRows = 12

// drainView reports the elections of a drain. It writes a line for each result and, on a terminal, a live table of the
// other elections. A slow terminal or pipe never delays the drain.
type drainView struct {
	d       deps
	json    bool
	nodes   []string
	plan    []*drain.Item // the plan that the command showed before the drain
	started time.Time
	width   int // columns of the terminal on stderr; 0 if stderr is not a terminal
	ready   chan struct{}

	mu      sync.Mutex
	order   []*drain.Item
	current map[*drain.Item]drain.Result
	lines   []drain.Result // results that are not written yet
	notices []string       // notices about the connection that are not written yet
	offline bool           // set while the connection to Consul is lost

	drawn   int   // number of lines of the live table on the screen
	written error // the first error that occurred while a result was written
}

func newDrainView(r *drainRun) *drainView {
	return &drainView{
		d: r.d, json: r.output == "json", nodes: r.plan.Nodes, plan: r.plan.Items, started: time.Now(),
		width: terminalWidth(r.d.stderr), ready: make(chan struct{}, 1), current: map[*drain.Item]drain.Result{},
	}
}

// changed stores a changed result until it is written. It does not block.
func (v *drainView) changed(r drain.Result) {
	v.mu.Lock()
	before, known := v.current[r.Item]
	if !known {
		v.order = append(v.order, r.Item)
	}
	v.current[r.Item] = r
	if r.Status.Final() && r.Status != before.Status {
		v.lines = append(v.lines, r)
	}
	v.mu.Unlock()
	v.wake()
}

// connection queues a notice that the connection was lost, with the reason err. If err is "", the notice says that the
// connection was restored. connection does not block.
func (v *drainView) connection(err string) {
	text := "connection to Consul restored"
	if err != "" {
		text = "connection to Consul lost: " + err + "; the drain continues when the connection is restored"
	}
	v.mu.Lock()
	v.notices, v.offline = append(v.notices, text), err != ""
	v.mu.Unlock()
	v.wake()
}

func (v *drainView) wake() {
	select {
	case v.ready <- struct{}{}:
	default:
	}
}

// start writes results until stop is called.
func (v *drainView) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(drainInterval)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-v.ready:
				v.flushIf(false)
			case <-tick.C:
				v.flushIf(true)
			}
		}
		v.flush()
	}()
	return func() { cancel(); <-done }
}

// flushIf writes the new lines and the live table. If there are no new lines, it does so only if tick is set and stderr
// is a terminal.
func (v *drainView) flushIf(tick bool) {
	v.mu.Lock()
	lines := len(v.lines) + len(v.notices)
	v.mu.Unlock()
	if lines > 0 || tick && v.width > 0 {
		v.flush()
		v.draw()
	}
}

// flush erases the live table and writes the new notices and results.
func (v *drainView) flush() {
	v.mu.Lock()
	lines, notices := v.lines, v.notices
	v.lines, v.notices = nil, nil
	v.mu.Unlock()
	if v.drawn > 0 {
		fmt.Fprintf(v.d.stderr, "\x1b[%dA\r\x1b[J", v.drawn)
		v.drawn = 0
	}
	for _, text := range notices {
		v.d.warn(text)
	}
	for _, r := range lines {
		v.line(r)
	}
}

// line reports one election: JSON to stdout, or text. The text of a failed, skipped or unfinished election goes to
// stderr, other text to stdout. It omits the text of a skipped election of the plan.
func (v *drainView) line(r drain.Result) {
	var err error
	switch {
	case v.json:
		err = writeJSONLine(v.d.stdout, drainResultJSON(r))
	case r.Status == drain.Skipped && slices.Contains(v.plan, r.Item):
		return
	case r.Status == drain.Failed || r.Status == drain.Skipped || !r.Status.Final():
		fmt.Fprintf(v.d.stderr, "electop: %s: %s\n", targetName(r.Item.Target), drainText(r))
	default:
		_, err = fmt.Fprintf(v.d.stdout, "%s: %s\n", targetName(r.Item.Target), drainText(r))
	}
	v.written = cmp.Or(v.written, err)
}

// draw writes the live table below the lines of the results.
func (v *drainView) draw() {
	if v.width == 0 {
		return
	}
	v.mu.Lock()
	rows := v.liveTable(time.Now())
	v.mu.Unlock()
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(ansi.Truncate(row, v.width-1, "…") + "\n")
	}
	fmt.Fprint(v.d.stderr, b.String())
	v.drawn = len(rows)
}

// liveTable returns a progress bar, the elections that are moving, and those for which the drain ended without a move.
// It omits skipped elections. The caller holds the mutex.
func (v *drainView) liveTable(now time.Time) []string {
	count := drainCounts{}
	var table strings.Builder
	tw := output.NewTable(&table)
	shown := 0
	for _, item := range v.order {
		r := v.current[item]
		count.add(r)
		if r.Status == drain.Waiting || r.Status == drain.Moved || r.Status == drain.Skipped || shown >= liveRows {
			continue
		}
		shown++
		text := liveText(r, now)
		if v.offline { // an age would suggest that the state is up to date
			text = presentLeader(r)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", targetName(item.Target), r.Status, releaseCount(r.Rounds)+pauseText(r), text)
	}
	_ = tw.Flush() // a strings.Builder does not fail
	const cells = 20
	full := cells * count.done() / max(1, count.elections)
	bar := strings.Repeat("#", full) + strings.Repeat("-", cells-full)
	head := fmt.Sprintf("[%s] %d of %d  %s  (ctrl-c stops)", bar, count.done(), count.elections, count.text())
	return append([]string{head}, strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")...)
}

// liveText describes the present leader of an election, and for how long it has led.
func liveText(r drain.Result, now time.Time) string {
	text := presentLeader(r)
	if !r.Since.IsZero() {
		text += " for " + max(0, now.Sub(r.Since)).Truncate(100*time.Millisecond).String()
	}
	return text
}

// pauseText says that the drain delays the next release of an election. It returns "" if there is no delay.
func pauseText(r drain.Result) string {
	if r.Pausing {
		return " and a pause before the next"
	}
	return ""
}

func presentLeader(r drain.Result) string {
	if r.Leader.Session == "" {
		return "no leader"
	}
	return "led by " + holderOnNode(r.Leader)
}

// holderOnNode names a holder and its node.
func holderOnNode(h insight.Holder) string {
	name := election.ShortLeader(h.Leader)
	if h.Node == "" || election.NamesNode(name, h.Node) {
		return name
	}
	return name + " on " + h.Node
}
