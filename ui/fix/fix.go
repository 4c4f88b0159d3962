// Package fix is the dialog that shows why an election has no effective leader, and applies the fix after the user
// has confirmed it.
package fix

import (
	"context"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Diagnosis is the problem with one election and the fix for it.
type Diagnosis struct {
	// Fix is nil if no problem was found.
	Fix *insight.Fix
	// Facts are the facts from which Fix was inferred.
	Facts insight.FixFacts
	// Destroy is the fix, if it has keys. Without keys, the fix needs no write of electop.
	Destroy election.Destroy
	// Ready is the earliest time at which the fix can be applied.
	Ready time.Time
}

// Diagnose reads the facts about an election of a snapshot and infers its problem.
type Diagnose func(ctx context.Context, s *election.Snapshot, e *election.Election) Diagnosis

// Reading is one diagnosis in progress, which can be cancelled. Only the event loop may use it.
type Reading struct{ cancel context.CancelFunc }

// Diagnosed is the message with the result of a diagnosis.
type Diagnosed struct {
	Of    *Reading
	Found Diagnosis
}

// readTime is the timeout of a diagnosis, which may include a search of the whole store.
const readTime = 30 * time.Second

// Reader starts a diagnosis and returns the command that runs it.
type Reader func(s *election.Snapshot, e *election.Election) (*Reading, tea.Cmd)

// NewReader binds diagnoses to the program's context. It returns nil if diagnose is nil.
func NewReader(ctx context.Context, diagnose Diagnose) Reader {
	if diagnose == nil {
		return nil
	}
	return func(s *election.Snapshot, e *election.Election) (*Reading, tea.Cmd) {
		ctx, cancel := context.WithTimeout(ctx, readTime)
		r := &Reading{cancel: cancel}
		return r, func() tea.Msg {
			defer cancel()
			return Diagnosed{Of: r, Found: diagnose(ctx, s, e)}
		}
	}
}

// Model is the dialog. It is bound to the state of the key that it diagnosed.
type Model struct {
	keys keys.Map
	read Reader
	// by is the key or command that opened the dialog.
	by       string
	election *election.Election
	reading  *Reading // nil after the diagnosis has ended
	found    Diagnosis
	// changed is the reason why the diagnosis is outdated. It is empty if the diagnosis is current. offline is set
	// while the connection is lost.
	changed string
	offline bool
	text    kit.Reader
	notice  scene.Notice
	// onAction is set while the action button has the focus. At first, Cancel has the focus.
	onAction bool
}

// Open starts the diagnosis of an election. If a diagnosis is unnecessary or impossible, it returns a note with the
// reason instead of a dialog.
func Open(e *election.Election, by string, read Reader, k keys.Map, s *scene.Scene) (*Model, scene.Action) {
	if reason := refusal(e, read, s); reason != "" {
		return nil, scene.Say{Role: kit.Delay, Text: reason}
	}
	if insight.FixNeeds(e, s.Now) == insight.NeedsNothing {
		return nil, scene.Say{Role: kit.Led, Text: scene.OneLine(e.Name, 60) + ": no vacancy to fix. " + healthy(e)}
	}
	m := &Model{keys: k, read: read, by: by, election: e}
	return m, m.start(s)
}

// refusal explains why no diagnosis is possible. It returns an empty text if a diagnosis is possible.
func refusal(e *election.Election, read Reader, s *scene.Scene) string {
	reason := s.Refusal("fix")
	switch {
	case reason != "":
		return reason
	case read == nil:
		return "Unavailable: this dashboard cannot apply fixes."
	case e == nil:
		return "No election is selected: there is nothing to fix."
	case e.Unreadable:
		return scene.OneLine(e.Name, 60) + " is not readable with this token. Run electop doctor to see the missing rule."
	case e.Recorded():
		return "Unavailable until " + scene.OneLine(e.Name, 60) + " is read: this data is from the history."
	}
	return ""
}

// Datacenter returns the datacenter of the election.
func (m Model) Datacenter() string { return m.election.Datacenter }

// healthy describes an election without a problem.
func healthy(e *election.Election) string {
	switch {
	case e.IsSemaphore():
		return "The key belongs to a semaphore, which has holders and no leader."
	case e.Session != nil && e.Session.TTL > 0:
		return scene.OneLine(e.Leader, 60) + " leads. If its process has ended, its session expires."
	}
	return scene.OneLine(e.Leader, 60) + " leads."
}

// start diagnoses the election in the state that the newest snapshot contains.
func (m *Model) start(s *scene.Scene) scene.Action {
	m.End()
	if e := s.Live.Find(m.election.ID()); e != nil {
		m.election = e
	}
	m.found, m.changed, m.onAction = Diagnosis{}, "", false
	var cmd tea.Cmd
	m.reading, cmd = m.read(s.Live, m.election)
	m.check(s)
	return scene.Run{Cmd: cmd}
}

// End cancels the diagnosis in progress.
func (m *Model) End() {
	if m.reading != nil {
		m.reading.cancel()
	}
	m.reading = nil
}

// check compares the election with the newest snapshot.
func (m *Model) check(s *scene.Scene) {
	m.offline = s.Live.Connection.State != election.Live
	if m.changed != "" {
		return
	}
	was, now := m.election, s.Live.Find(m.election.ID())
	switch {
	case now == nil:
		m.changed = "The election is no longer on the board."
	case now.Pair.Session == was.Pair.Session && (was.Pair.Held() || now.Exists == was.Exists && now.Pair.ModifyIndex == was.Pair.ModifyIndex):
	case now.Exists && now.Pair.Held():
		m.changed = scene.OneLine(now.Leader, 60) + " leads now."
	default:
		m.changed = "The key was changed after it was read."
	}
	if m.changed != "" {
		m.End()
	}
}

func (m *Model) applies() bool {
	return m.reading == nil && len(m.found.Destroy.Keys) > 0 && m.changed == "" && !m.offline
}

// Awaits returns the message that the text was visible for long enough, or nil.
func (m Model) Awaits() *scene.Noticed { return m.notice.Awaits() }

// ready reports whether the user can confirm the text: the evidence is complete, every line was visible, and for a
// moment neither the text changed nor a new line became visible.
func (m *Model) ready(now time.Time) bool {
	return m.applies() && !now.Before(m.found.Ready) && m.text.Read() && m.notice.Over()
}

// Keys returns the key bindings for the footer.
func (m Model) Keys(k keys.Map) []key.Binding {
	if m.applies() {
		return k.Dialog(false, false)
	}
	return k.ResultList(false)
}
