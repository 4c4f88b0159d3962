package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
)

// survey reads once what stands around the elections that a dialog is about. All
// of it belongs to the event loop.
type survey struct {
	keys   []string
	cancel context.CancelFunc
	over   bool
	found  map[string]*scene.Assessment
}

// surveyedMsg is the end of a survey.
type surveyedMsg struct {
	of    *survey
	found []election.Surroundings
}

// surveyTime bounds a survey: the user waits for it.
const surveyTime = 10 * time.Second

// surveyor makes a survey and the command that carries it out.
type surveyor func(keys []string) (*survey, tea.Cmd)

// newSurveyor binds surveys to the program's context. It is nil when there is
// nothing to read with.
func newSurveyor(ctx context.Context, read func(ctx context.Context, keys []string) []election.Surroundings) surveyor {
	if read == nil {
		return nil
	}
	return func(keys []string) (*survey, tea.Cmd) {
		s := &survey{keys: slices.Clone(keys)}
		ctx, cancel := context.WithTimeout(ctx, surveyTime)
		s.cancel = cancel
		return s, func() tea.Msg {
			defer cancel()
			return surveyedMsg{of: s, found: read(ctx, s.keys)}
		}
	}
}

// covers reports that the survey is about all of these keys.
func (s *survey) covers(keys []string) bool {
	return s != nil && !slices.ContainsFunc(keys, func(key string) bool {
		_, asked := slices.BinarySearch(s.keys, key)
		return !asked
	})
}

// ended infers the candidates. The surroundings of all keys have the same sessions.
func (s *survey) ended(found []election.Surroundings, live *election.Snapshot) {
	s.over, s.found = true, make(map[string]*scene.Assessment, len(found))
	if len(found) == 0 {
		return
	}
	board := insight.NewBoard(live.Elections, found[0].Sessions)
	for i := range found {
		if e := live.Find(found[i].Key); e != nil {
			s.found[e.Key()] = &scene.Assessment{Around: &found[i], Candidates: board.Candidates(e, &found[i])}
		}
	}
}

// of is what was found out about an election, which may be nothing.
func (s *survey) of(key string) *scene.Assessment {
	if s != nil && s.found[key] != nil {
		return s.found[key]
	}
	return &scene.Assessment{}
}

// siblings are the keys beside all elections that were surveyed.
func (s *survey) siblings() []election.Pair {
	if s == nil || !s.over {
		return nil
	}
	var all []election.Pair
	for _, key := range s.keys {
		if around := s.of(key).Around; around != nil {
			all = append(all, around.Siblings...)
		}
	}
	return all
}

// askSurvey starts a survey if the open dialog is about elections that the latest
// one is not about.
func (m *Model) askSurvey() tea.Cmd {
	d := m.dialog
	if d == nil || m.survey == nil || !d.acts() || d.survey.covers(d.wanted) {
		return nil
	}
	d.endSurvey()
	var run tea.Cmd
	d.survey, run = m.survey(d.wanted)
	return run
}

// surveyed takes the end of a survey, if the dialog that it was for is still open.
func (m *Model) surveyed(msg surveyedMsg) {
	if m.dialog != nil && m.dialog.survey == msg.of {
		msg.of.ended(msg.found, m.live)
		m.checkDialog()
	}
}

// endSurvey stops the survey that runs and forgets the latest.
func (d *dialog) endSurvey() {
	if d.survey != nil {
		d.survey.cancel()
	}
	d.survey = nil
}

// checking reports that the dialog waits for a survey.
func (d *dialog) checking() bool {
	return d.surveys && len(d.wanted) > 0 && (!d.survey.covers(d.wanted) || !d.survey.over)
}

// wants lists the elections that the action ends, sorted: those are surveyed.
func (d *dialog) wants() []string {
	var keys []string
	if d.kind == election.ActionRelease {
		for _, t := range d.standing() {
			keys = append(keys, t.Key)
		}
	}
	for _, f := range d.falls {
		if !f.slot && !f.unwatched {
			keys = append(keys, f.key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
