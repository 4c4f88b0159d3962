// Package detail shows one election on several pages: state, candidates, history and raw
// value.
package detail

import (
	"bytes"
	"encoding/json"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// Model is the set of pages about the selected election.
type Model struct {
	keys   keys.Map
	rect   kit.Rect
	tab    int
	of     election.ID
	offset int // position of the first visible line
	// past is the displayed moment for which stored is read. It is nil for the present.
	past   *scene.Past
	stored storedTerms
}

// New returns the pages with the detail page open.
func New(k keys.Map, r past.Reader) *Model { return &Model{keys: k, stored: storedTerms{past: r}} }

// Update handles a message. It limits the offset to the page, and resets the offset if another
// election is selected. While the history is shown, it reads the stored terms.
func (m *Model) Update(msg tea.Msg, s *scene.Scene) scene.Action {
	if m.past != s.Past {
		m.past = s.Past
		m.stored.forget()
	}
	m.update(msg)
	var id election.ID
	if s.Selected != nil {
		id = s.Selected.ID()
	}
	if id != m.of {
		m.of, m.offset = id, 0
		m.stored.forget()
	}
	if s.Selected == nil || m.rect.H <= 1 {
		return nil
	}
	if m.offset != 0 {
		m.offset = max(0, min(m.offset, len(m.lines(s))-(m.rect.H-1)))
	}
	if m.tab == tabHistory {
		return m.stored.load(s)
	}
	return nil
}

func (m *Model) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case scene.Resized:
		m.rect = msg.Rect
	case scene.Back:
		m.offset = 0
	case scene.Wheeled:
		m.scroll(msg.Step)
	case scene.Clicked:
		m.turn(msg.Index)
	case tea.KeyPressMsg:
		switch k := &m.keys; {
		case key.Matches(msg, k.NextTab):
			m.turn(m.tab + 1)
		case key.Matches(msg, k.PrevTab):
			m.turn(m.tab + len(tabs()) - 1)
		case key.Matches(msg, k.PaneDown):
			m.scroll(1)
		case key.Matches(msg, k.PaneUp):
			m.scroll(-1)
		default:
			step, _ := k.Step(msg, max(1, m.rect.H-1), 1<<20)
			m.scroll(step)
		}
	}
}

func (m *Model) scroll(step int) {
	if m.rect.H > 1 {
		m.offset += step
	}
}

// View draws the title and the visible part of the page.
func (m *Model) View(s *scene.Scene, p *kit.Painter) []string {
	r := m.rect
	if r.H <= 0 {
		return nil
	}
	e := s.Selected
	part := s.Of(e)
	if part.PartStale() {
		stale := *p
		stale.Tone, p = kit.Stale, &stale
	}
	lines := []string{m.title(p, part, r.W)}
	if e == nil || r.H == 1 {
		return p.Pad(lines, r.W, r.H)
	}
	return p.Pad(p.Text(lines, m.lines(s), m.offset, r.H-1, r.W), r.W, r.H)
}

// doc writes the selected election of a scene to a page.
type doc struct {
	*kit.Page
	*scene.Scene
}

// Write writes the pages Detail, Candidates and Raw of the selected election.
func Write(page *kit.Page, s *scene.Scene) {
	d, e := doc{page, s}, s.Selected
	d.writeState(e)
	if !e.IsSemaphore() {
		d.Head("Candidates")
		d.candidatesDoc(e)
	}
	d.Head("Raw")
	d.writeRaw(e)
}

// writeState writes the state of an election: first what is wrong and what to do, then the facts, then the value. s is
// the scene of this election.
func (d doc) writeState(e *election.Election) {
	switch {
	case e.Recorded():
		d.Para(kit.Delay, "From the history, observed until "+d.Clock(e.RecordedUntil)+"; not read from "+e.Store.String()+" yet:")
	case d.PartStale():
		d.Para(kit.Delay, "Stale for "+d.Ago(d.StaleSince)+": the query for this key fails. Last known at "+d.Clock(d.AsOf)+":")
	}
	switch state := d.StateOf(e); state {
	case scene.StateLed:
		d.WriteRisk(d.Page, e)
		d.writeAdvice()
		d.writeLed(e)
	case scene.StateUnreadable:
		d.Para(kit.Delay, "This token can no longer read the key: this data is stale.")
		d.Field("Last read", append(kit.Text.Spans(e.Leader), d.TermSpans(e)...)...)
	case scene.StateSemaphore:
		d.writeAdvice()
		d.writeSemaphore()
	default:
		d.writeVacant(e, state)
	}
	d.writeValue(e)
}

func (d doc) writeLed(e *election.Election) {
	d.Field("Leader", append(kit.Strong.Spans(e.Leader), d.TermSpans(e)...)...)
	current := election.Term{Start: e.Since, StartKnown: e.SinceKnown}
	if n := len(e.Terms); n > 0 {
		current.NotBefore = e.Terms[n-1].NotBefore
	}
	held := election.BriefDuration(d.AsOf.Sub(e.Since))
	since := "for " + held
	if !e.SinceKnown {
		since = d.Sym.AtLeast + held + "; the start was not observed"
	}
	d.Value("Since", current.From(d.Now, d.Clock), since)
	d.writeSession(e)
	d.writeNext()
	d.writeLastTerm(e.LastTerm())
}

func (d doc) writeSession(e *election.Election) {
	if e.Recorded() || d.Past != nil {
		d.Value("Session", scene.Clean(e.Pair.Session), "settings "+scene.NotStored)
		if e.Store.Leases {
			return
		}
		d.Value("Node", scene.Clean(e.Node()))
		d.Field("Checks", kit.Quiet.Span(scene.NotStored))
		return
	}
	if e.Session == nil {
		why := d.WhyUnread(e)
		d.Field("Session", kit.Text.Span(scene.Clean(e.Pair.Session)), kit.Delay.Span("  "+why))
		if e.Store.Leases {
			return
		}
		d.Field("Checks", kit.Delay.Span("unknown"), kit.Quiet.Span("  its session: "+why))
		return
	}
	ses := e.Session
	name := kit.Text.Spans(scene.Clean(ses.ID))
	if ses.Name != "" {
		name = append(name, kit.Quiet.Span("  "+scene.Clean(ses.Name)))
	}
	d.Field("Session", name...)
	d.Value("Node", scene.Clean(ses.Node))
	d.SessionSettings(d.Page, ses)
}

func (d doc) writeVacant(e *election.Election, state scene.DisplayState) {
	r := kit.Text
	switch state {
	case scene.StateLockDelay:
		r = kit.Delay
	case scene.StateVacant:
		r = kit.Vacant
	case scene.StateIdle:
		d.Para(kit.Quiet, "Idle: no candidate was seen, as after a finished job. If it must have a leader, start an instance.")
	default:
	}
	d.Para(r, d.whyVacant(e))
	// The fix is that of the fix dialog. The text above describes an estimated lock-delay.
	if fix := d.Insight().Fix; fix != nil && fix.Code != insight.LockDelay && !d.Stale && !d.PartStale() && (state == scene.StateVacant || state == scene.StateLockDelay) {
		if fix.Code != insight.AwaitingCandidates { // a wait is no problem yet
			scene.ProblemField(d.Page, fix)
		}
		if fix.Do == "" && (fix.Code == insight.LockFlags || fix.Code == insight.PatroniReleased) { // other reasons are in the text above or the advice below
			d.Value("Why", fix.Why)
		}
		scene.FixField(d.Page, fix, d.AsOf)
	}
	d.writeAdvice()
	d.writeLastTerm(e.LastTerm())
	d.writeNext()
}

func (d doc) whyVacant(e *election.Election) string {
	live := d.Live.In(e.Datacenter).Connection
	link := live
	if d.Past != nil {
		link = election.Connection{State: election.Live}
	}
	// WhyVacant computes ages relative to AsOf, but the age of the last response must be relative to now.
	link.LastContact = link.LastContact.Add(d.AsOf.Sub(d.Now))
	if live.LastContact.IsZero() {
		link.LastContact = time.Time{}
	}
	in := d.Insight()
	return in.Board.WhyVacant(e, insight.Facts{Now: d.AsOf, Connection: link, Around: in.Around, Delay: in.LockDelay}, in.Likely())
}

func (d doc) writeLastTerm(last *election.Term) {
	if last == nil {
		return
	}
	d.Blank()
	missed := ""
	if n := d.Selected.MissedTerms(); n > 0 {
		missed = "; then " + election.Plural(n, "term") + " not observed"
	}
	d.Field("Last leader", append(leaderSpans(last), kit.Quiet.Span(", "+scene.TermText(last.Number, last.CreateIndex, last.Session)+", led for "+d.Held(last.Held(d.AsOf), last.HeldKnown())+missed))...)
	if missed == "" {
		d.Value("Lost at", last.To(d.Now, d.Clock))
		d.Field("Lost because", d.CauseSpans(last)...)
	}
}

// valueLimit is the maximum length of a value on the Detail page, in runes. The Raw page shows all of it.
const valueLimit = 600

func (d doc) writeValue(e *election.Election) {
	v := e.Pair.Value
	head := v[:min(len(v), 16<<10)]
	text, isText := plainText(head)
	switch {
	case !e.Exists && !e.Recorded() && d.Past == nil, e.Pair.Blocked():
	case e.Recorded(), d.Past != nil:
		d.Field("Value", kit.Quiet.Span(scene.NotStored))
	case len(v) == 0:
		d.Field("Value", kit.Quiet.Span("empty"))
	case !isText:
		d.Value("Value", kit.Size(len(v))+" of binary data", "see Raw")
	default:
		if compact := new(bytes.Buffer); json.Compact(compact, head) == nil {
			text = compact.String()
		}
		spans := kit.Text.Spans(sanitize.Line(text, valueLimit))
		if len(v) > valueLimit {
			spans = append(spans, kit.Quiet.Span("  "+kit.Size(len(v))+", see Raw"))
		}
		if !e.Pair.Held() && e.LastTerm() != nil && e.Pair.LockIndex > 0 && e.MissedTerms() == 0 {
			spans = append(spans, kit.Quiet.Span("  left by the last leader"))
		}
		d.Field("Value", spans...)
	}
}

// writeAdvice writes the risks of an election, each with its remedy. It omits the failure of a leader if the text above
// contains this failure and the fix.
func (d doc) writeAdvice() {
	in := d.Insight()
	for _, a := range in.Advice {
		if in.Fix != nil && a.Code == insight.LeaderFailed {
			continue
		}
		sign, why := kit.Quiet.Span(d.Sym.Dot+" "), kit.Text
		if a.Urgent {
			sign, why = kit.Delay.Span(d.Sym.Urgent+" "), kit.Delay
		}
		d.Beside([]kit.Span{sign}, 2, why.Span(scene.Clean(a.Why)))
		d.Advise(nil, 2, kit.Quiet.Span(d.Sym.Arrow+" "+scene.Clean(scene.Shown(d.Page, &a, a.Do))))
	}
}
