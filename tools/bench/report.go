package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// sizeReport contains the measurements with n elections.
type sizeReport struct {
	n        int
	baseline result
	results  []result
	board    *dashboardResult
}

const none = "–"

// table formats the measurements of all watchers.
func (r sizeReport) table(o options) *table {
	t := &table{
		title: thousands(r.n) + " elections",
		head: []string{
			"", "one by one p50", "p99", "max", fmt.Sprintf("at %g/s p50", o.rate), "p99", "max", "seen",
			"client CPU", "server CPU", "RSS (peak)", "conns", "ready",
		},
	}
	for _, w := range r.results {
		if w.skipped != "" {
			t.add(append([]string{w.watcher}, repeat(none, len(t.head)-1)...)...)
			t.notes = append(t.notes, w.watcher+": "+w.skipped+".")
			continue
		}
		t.add(append(append([]string{w.watcher}, spreadCells(w.idle, w.busy)...),
			fmt.Sprintf("%d/%d", w.busy.seen, w.busy.made),
			ms(w.perCPU.client), ms(w.perCPU.server-r.baseline.perCPU.server),
			fmt.Sprintf("%s (%s)", megabytes(w.rss), megabytes(w.peak)), fmt.Sprint(w.conns), ms(w.ready))...)
	}
	t.notes = append(t.notes, fmt.Sprintf(
		"Latency and ready in ms. CPU in ms per change; server CPU excludes the %s ms that a write costs without a watcher. RSS in MB.",
		ms(r.baseline.perCPU.server)))
	if r.board != nil {
		t.notes = append(t.notes, r.board.sentence(o, r.n))
	}
	return t
}

func spreadCells(all ...spread) []string {
	var cells []string
	for _, s := range all {
		if s.seen == 0 {
			cells = append(cells, none, none, none)
			continue
		}
		cells = append(cells, ms(s.p50), ms(s.p99), ms(s.max))
	}
	return cells
}

func (b *dashboardResult) sentence(o options, n int) string {
	if b.err != "" {
		return "Dashboard: not measured: " + b.err
	}
	return fmt.Sprintf("Dashboard (%sx%s) with %s elections: first complete table after %s ms, of which the terminal takes %s ms; the rest is "+
		"%.2f × the %s ms of one curl of the same keys and sessions; %.3f %% of a core without changes; %s ms client CPU and %s ms server CPU per change at %g/s; "+
		"%s MB resident (peak %s); %d connections.",
		boardWidth, boardHeight, thousands(n), ms(b.first), ms(b.own), float64(b.first-b.own)/float64(max(b.curl, 1)), ms(b.curl),
		100*b.quiet, ms(b.perCPU.client), ms(b.perCPU.server), o.rate, megabytes(b.rss), megabytes(b.peak), b.conns)
}

func repeat(text string, n int) []string {
	return strings.Split(strings.Repeat(text+" ", n-1)+text, " ")
}

// machine returns one line with the machine and the software versions.
func machine(ctx context.Context, consul string) string {
	return fmt.Sprintf("%s, %d cores, %s, %s, %s/%s, %s", cpuModel(), runtime.NumCPU(), consulVersion(ctx, consul),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, time.Now().UTC().Format(time.DateOnly))
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	return modelIn(string(text))
}

// modelIn returns the CPU model from the text of a /proc/cpuinfo file.
func modelIn(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}

func consulVersion(ctx context.Context, consul string) string {
	out, err := exec.CommandContext(ctx, consul, "version").Output()
	if err != nil {
		return "Consul"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// bench replaces the text between these two lines of a document.
const (
	markBegin = "<!-- make bench writes from here -->"
	markEnd   = "<!-- to here -->"
)

// updateMarkdown replaces the text between the two marks in a document. It creates the document if it does not exist.
func updateMarkdown(path, text string) error {
	old, err := os.ReadFile(path) //nolint:gosec // the file that a flag names
	if errors.Is(err, os.ErrNotExist) {
		old, err = []byte("# Performance\n\n"+markBegin+"\n"+markEnd+"\n"), nil
	}
	if err != nil {
		return err
	}
	updated, err := between(string(old), text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(updated), 0o644) //nolint:gosec // a document
}

func between(document, text string) (string, error) {
	before, rest, ok := strings.Cut(document, markBegin)
	if !ok {
		return "", errors.New("the document does not contain the line " + markBegin)
	}
	_, after, ok := strings.Cut(rest, markEnd)
	if !ok {
		return "", errors.New("the document does not contain the line " + markEnd)
	}
	return before + markBegin + "\n\n" + strings.TrimSpace(text) + "\n\n" + markEnd + after, nil
}
