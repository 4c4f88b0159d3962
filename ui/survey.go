package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// survey reads once what stands around the elections that a dialog is about. All
// of it belongs to the event loop.
type survey struct {
	keys   []string
	cancel context.CancelFunc
	over   bool
	found  map[string]*insight
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
	s.over, s.found = true, make(map[string]*insight, len(found))
	if len(found) == 0 {
		return
	}
	board := election.NewBoard(live.Elections, found[0].Sessions)
	for i := range found {
		if e := live.Find(found[i].Key); e != nil {
			s.found[e.Key()] = &insight{around: &found[i], candidates: board.Candidates(e, &found[i])}
		}
	}
}

// of is what was found out about an election, which may be nothing.
func (s *survey) of(key string) *insight {
	if s != nil && s.found[key] != nil {
		return s.found[key]
	}
	return &insight{}
}

// siblings are the keys beside all elections that were surveyed.
func (s *survey) siblings() []election.Pair {
	if s == nil || !s.over {
		return nil
	}
	var all []election.Pair
	for _, key := range s.keys {
		if around := s.of(key).around; around != nil {
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

// effectOn says what the action does to one election, by all that was read.
func (d *dialog) effectOn(e *election.Election) election.Effect {
	in := d.survey.of(e.Key())
	f := election.EffectOf(d.kind, e, in.around, in.likely())
	if unread := in.unread(); len(unread) > 0 && f.Refusal == "" {
		f.Warnings = append(f.Warnings, "The check is incomplete ("+strings.Join(unread, "; ")+
			"): candidates and the holder's software may not be recognised.")
	}
	return f
}

// effectOf says what the action does to a target. held are the elections that its
// session leads: a destroy ends all of them.
func (d *dialog) effectOf(t *boundTarget, held []*election.Election, live *election.Snapshot) election.Effect {
	var f election.Effect
	if d.bare {
		f = election.EffectOfSession(t.session, d.heldBy(t, live), d.searchedAll())
	} else {
		f = d.effectOn(live.Find(t.Key))
	}
	if d.kind == election.ActionRelease {
		return f
	}
	d.addOthers(&f, slices.DeleteFunc(slices.Clone(held), func(e *election.Election) bool {
		return d.isAbout(e.Key()) // a target tells of itself
	}))
	if !d.bare && !d.searchedAll() {
		f.Warnings = append(f.Warnings, election.MayHoldMore)
	}
	return f
}

func (d *dialog) isAbout(key string) bool {
	return slices.ContainsFunc(d.targets, func(t boundTarget) bool { return t.Key == key })
}

// addOthers adds to a destroy what it does to other elections of the session, which
// the warnings name. A leader key of Patroni decides whose session it is.
func (d *dialog) addOthers(f *election.Effect, others []*election.Election) {
	var warnings []string
	about := map[string][]string{}
	for _, e := range others {
		other := d.effectOn(e)
		if d.bare && other.Kind == election.HolderPatroni {
			f.Kind, f.Software, f.Holder = other.Kind, other.Software, other.Holder
		}
		f.Better = cmp.Or(f.Better, other.Better)
		for _, w := range other.Warnings {
			if d.bare && slices.Contains(f.Warnings, w) {
				continue
			}
			if about[w] == nil {
				warnings = append(warnings, w)
			}
			about[w] = append(about[w], oneLine(e.Name, 60))
		}
	}
	for _, w := range warnings {
		f.Warnings = append(f.Warnings, d.names(about[w], 3)+": "+w)
	}
}

// writeNext names who would probably lead next where one election ends.
func (d *dialog) writeNext(page *doc) {
	if len(d.targets) != 1 || len(d.wanted) != 1 {
		return
	}
	in := d.survey.of(d.wanted[0])
	if in.around != nil && (len(in.candidates) > 0 || len(in.unread()) == 0) {
		page.field("Likely next", nextSpans(&scene{}, in)...)
	}
}

// nextOf names the likeliest next leader of one of several elections.
func (d *dialog) nextOf(t *boundTarget) []span {
	in := d.survey.of(t.Key)
	if len(in.candidates) == 0 {
		return nil
	}
	word := ", next likely "
	if in.candidates[0].Weak {
		word = ", next perhaps "
	}
	return []span{{roleQuiet, word + nextNames(in.candidates)[0]}}
}
