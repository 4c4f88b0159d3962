package dialog

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/scene"
)

// Survey is one read of the surroundings of the elections in the dialog. Only the event loop may use it.
type Survey struct {
	// Keys are the elections' keys, sorted.
	Keys   []string
	cancel context.CancelFunc
	over   bool
	found  map[string]*scene.Assessment
}

// Surveyed is the message about the end of a survey.
type Surveyed struct {
	Of    *Survey
	Found []election.Surroundings
}

// surveyTime is the timeout of a survey. The user waits during a survey.
const surveyTime = 10 * time.Second

// Surveyor creates a survey and the command that runs it.
type Surveyor func(keys []string) (*Survey, tea.Cmd)

// NewSurveyor binds surveys of a datacenter to the program's context. It returns nil if read is nil.
func NewSurveyor(ctx context.Context, read func(ctx context.Context, datacenter string, keys []string) []election.Surroundings, datacenter string) Surveyor {
	if read == nil {
		return nil
	}
	return func(keys []string) (*Survey, tea.Cmd) {
		s := &Survey{Keys: slices.Clone(keys)}
		ctx, cancel := context.WithTimeout(ctx, surveyTime)
		s.cancel = cancel
		return s, func() tea.Msg {
			defer cancel()
			return Surveyed{Of: s, Found: read(ctx, datacenter, s.Keys)}
		}
	}
}

func (s *Survey) covers(keys []string) bool {
	return s != nil && !slices.ContainsFunc(keys, func(key string) bool {
		_, asked := slices.BinarySearch(s.Keys, key)
		return !asked
	})
}

// ended stores the result and infers the candidates. The surroundings of all keys contain the same session list.
func (s *Survey) ended(found []election.Surroundings, live *election.Snapshot) {
	s.over, s.found = true, make(map[string]*scene.Assessment, len(found))
	if len(found) == 0 {
		return
	}
	board := insight.NewBoard(live.Elections, found[0].Sessions)
	for i := range found {
		if e := live.Find(election.KeyID(found[i].Key)); e != nil {
			s.found[e.Key()] = &scene.Assessment{Around: &found[i], Candidates: board.Candidates(e, &found[i])}
		}
	}
}

func (s *Survey) of(key string) *scene.Assessment {
	if s != nil && s.found[key] != nil {
		return s.found[key]
	}
	return &scene.Assessment{}
}

func (s *Survey) siblings() []election.Pair {
	if s == nil || !s.over {
		return nil
	}
	var all []election.Pair
	for _, key := range s.Keys {
		if around := s.of(key).Around; around != nil {
			all = append(all, around.Siblings...)
		}
	}
	return all
}

// startSurvey starts a survey if the latest one does not cover the wanted keys.
func (d *Model) startSurvey() (run tea.Cmd) {
	if d.tools.Survey == nil || !d.acts() || d.survey.covers(d.wanted) {
		return nil
	}
	d.endSurvey()
	d.survey, run = d.tools.Survey(d.wanted)
	return run
}

// endSurvey cancels the running survey and discards the latest result.
func (d *Model) endSurvey() {
	if d.survey != nil {
		d.survey.cancel()
	}
	d.survey = nil
}

// checking reports whether the dialog waits for a survey.
func (d *Model) checking() bool {
	return d.tools.Survey != nil && len(d.wanted) > 0 && (!d.survey.covers(d.wanted) || !d.survey.over)
}

// keysToSurvey lists the keys of the elections whose terms the action ends, sorted.
func (d *Model) keysToSurvey() []string {
	var keys []string
	if d.kind == election.ActionRelease {
		for _, t := range d.actionable() {
			keys = append(keys, t.Key)
		}
	}
	for _, f := range d.affected {
		if !f.slot && !f.unwatched {
			keys = append(keys, f.key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
