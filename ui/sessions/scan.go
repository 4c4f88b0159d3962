package sessions

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// storeScan searches the whole KV store for keys of the listed sessions. It keeps a result
// until the next scan completes.
type storeScan struct {
	run *scene.Search // the latest search, nil before the first search
	// asked contains the IDs of the sessions that run covers.
	asked map[string]bool

	result scanResult
}

// scanResult is the result of a complete scan.
type scanResult struct {
	at    time.Time // when the scan began, or zero if there is no result
	of    map[string]bool
	keys  map[string][]election.Pair // the sorted keys of each session
	total int64
	// partial is set if the token cannot read all keys.
	partial bool
}

// keptValue is the maximum size of a stored value, in bytes. Longer values do not identify software and would occupy
// memory for days.
const keptValue = 4 << 10

// ended stores the result of the latest search. A search that was stopped or failed keeps the previous result.
func (s *storeScan) ended() {
	if s.run.Err != nil {
		return
	}
	keys := make(map[string][]election.Pair, len(s.run.Found))
	for _, p := range s.run.Found {
		if len(p.Value) > keptValue {
			p.Value = nil
		}
		keys[p.Session] = append(keys[p.Session], p)
	}
	for _, of := range keys {
		slices.SortFunc(of, func(a, b election.Pair) int { return strings.Compare(a.Key, b.Key) })
	}
	s.result = scanResult{at: s.run.At, of: s.asked, keys: keys, total: s.run.Scanned, partial: s.run.Incomplete}
}

// spans returns the lines about the scan: its progress or error, and the age of the result. Before the first scan it
// returns nil.
func (s *storeScan) spans(now time.Time, stop string) [][]kit.Span {
	var lines [][]kit.Span
	switch run := s.run; {
	case run == nil:
		return nil
	case !run.Over:
		lines = append(lines, run.ProgressSpans(stop))
	case run.WasStopped():
		lines = append(lines, []kit.Span{{kit.Delay, "The scan was stopped after " + run.Far() + "."}})
	case run.Err != nil:
		lines = append(lines, []kit.Span{{kit.Bad, "The scan failed after " + run.Far() + ": " + scene.Clean(run.Err.Error())}})
	}
	r := &s.result
	if r.at.IsZero() {
		return lines
	}
	text := []kit.Span{{kit.Text, "HOLDS shows all keys as of " + kit.ClockTime(r.at)},
		{kit.Quiet, ", " + kit.Duration(now.Sub(r.at)) + " ago; " + kit.Thousands(r.total) + " keys scanned"}}
	if r.partial {
		text = append(text, kit.Span{kit.Delay, "; this token cannot read all keys"})
	}
	return append(lines, text)
}

// toggleScan starts or stops a scan of the store for keys of all listed sessions.
func (v *Model) toggleScan(s *scene.Scene) scene.Action {
	refusal := ""
	switch {
	case v.scan.run.Running():
		v.scan.run.Stop()
		return nil
	case s.Live.Connection.State != election.Live:
		refusal = scene.StaleText(s.Live.Connection)
	case len(v.rows) == 0:
		refusal = "No scan is possible: no sessions are listed."
	}
	if refusal != "" {
		return scene.Say{Role: kit.Delay, Text: refusal}
	}
	ids := make([]string, 0, len(v.rows))
	v.scan.asked = make(map[string]bool, len(v.rows))
	for i := range v.rows {
		id := v.rows[i].ses.ID
		ids, v.scan.asked[id] = append(ids, id), true
	}
	var search tea.Cmd
	v.scan.run, search = v.search(ids, s.Now, v.scan.ended)
	return scene.Run{Cmd: search}
}
