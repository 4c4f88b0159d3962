package ui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
)

// poisoner replaces texts in a value of any type with hostile ones.
type poisoner struct {
	rand  *rand.Rand
	texts []string
}

func (p *poisoner) text(old string) string {
	switch text := p.texts[p.rand.IntN(len(p.texts))]; p.rand.IntN(4) {
	case 0:
		return text
	case 1:
		return text + old
	case 2:
		return old + text
	}
	return old
}

// poison replaces the texts in every exported field. It keeps named string types, because their values are constants
// of package election.
func (p *poisoner) poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			p.poison(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case field.Name == "Leader": // election.LeaderLabel has sanitized it
				v.Field(i).SetString(sanitize.Line(p.text(v.Field(i).String()), 80))
			case field.IsExported():
				p.poison(v.Field(i))
			}
		}
	case reflect.Slice:
		if bytes, ok := v.Interface().([]byte); ok && v.CanSet() {
			v.SetBytes([]byte(p.text(string(bytes))))
			return
		}
		for i := range v.Len() {
			p.poison(v.Index(i))
		}
	case reflect.Map:
		p.poisonMap(v)
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() {
			v.SetString(p.text(v.String()))
		}
	default:
	}
}

func (p *poisoner) poisonMap(v reflect.Value) {
	if v.Type().Key() != reflect.TypeFor[string]() {
		return
	}
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		p.poison(value)
		v.SetMapIndex(key, reflect.Value{})
		v.SetMapIndex(reflect.ValueOf(p.text(key.String())), value)
	}
}

// snapshot returns a board in a random state with hostile texts. Its keys are sorted and distinct.
func (p *poisoner) snapshot() *election.Snapshot {
	snap := studiedSnapshot([]string{"", "service/billing/leader", "service/pg/leader"}[p.rand.IntN(3)])
	if p.rand.IntN(4) == 0 {
		snap.Connection = lostSnapshot().Connection
	}
	if p.rand.IntN(4) == 0 {
		kinds := []election.PartKind{election.PartKeys, election.PartNames, election.PartSessions, election.PartChecks}
		snap.Connection.Stale = staleOnly(kinds[p.rand.IntN(len(kinds))])().Connection.Stale
		snap.Connection.Stale = append(snap.Connection.Stale, staleOnly(election.PartKeys)().Connection.Stale...)
	}
	if p.rand.IntN(8) == 0 {
		snap.Elections, snap.Filtered, snap.Connection.Refused = nil, p.rand.IntN(2) == 0, p.rand.IntN(2) == 0
	}
	p.poison(reflect.ValueOf(snap))
	for i, e := range snap.Elections {
		e.Pair.Key = fmt.Sprintf("%02d%s", i, e.Pair.Key)
		if p.rand.IntN(2) == 0 {
			e.Leader = election.LeaderLabel(e.Pair, e.Session)
		}
	}
	return snap
}

// options sets functions that return surroundings, permissions and keys with hostile texts.
func (p *poisoner) options(o *Options) {
	studies(o)
	o.ASCII = p.rand.IntN(4) == 0
	o.Address, o.Title, o.Demo = p.text("127.0.0.1:8500"), p.text(""), p.text("")
	o.Patterns = []string{p.text("service/*/leader"), p.text("a/**")}
	fake(o).onRights = func(context.Context, election.Target) (election.Rights, error) {
		return election.Rights{Known: true, ReleaseRule: p.text("key"), DestroyRule: p.text("session")}, errors.New(p.text("no response"))
	}
	fake(o).onHoldings = func(_ context.Context, _ string, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
		progress(1, 2)
		var found []election.Pair
		for _, session := range sessions {
			found = append(found, election.Pair{Key: p.text("locks/nightly"), Session: session})
		}
		return found, p.rand.IntN(2) == 0, errors.New(p.text("no response"))
	}
}

// FuzzDashboard draws every view at every size with arbitrary texts from Consul, the environment and the keyboard.
func FuzzDashboard(f *testing.F) {
	for i, seed := range []string{
		"\x1b[2J", "\u202e", "\u009b31m", "a\nb", "世界", "\xff\xfe", "e\u0301", "🇩🇪👍🏽", "👨\u200d👩", `{"name":"\u001b[2J"}`, "\u0301", "ก\u0e33", "ᄀ\u1161",
		"क\u094dष", "\ufe0f", "\u2028", "\u00ad", "\U000e0041", "\ue000", "\U00011f02", "\x1b]0;t\x07", "\t", "שלום",
	} {
		f.Add(seed, "x\x1b[31m", uint64(i), uint8(i), uint8(40*i), uint8(14*i))
	}
	f.Fuzz(func(t *testing.T, a, b string, seed uint64, state, w, h uint8) {
		p := &poisoner{rand: rand.New(rand.NewPCG(seed, 1)), texts: []string{a, b, a + b}}
		width, height := 40+int(w)%180, 10+int(h)%50
		keys := states()[int(state)%len(states())]
		d := drive(t, p.snapshot(), width, height, p.options)
		kinds := []insight.OutcomeKind{insight.OutcomeDone, insight.OutcomeChanged, insight.OutcomeDenied, insight.OutcomeFailed, insight.OutcomeUnknown}
		d.op.fails(kinds[int(state)%len(kinds)], p.text("no response"))
		d.send(tea.ColorProfileMsg{})
		for _, key := range keys {
			cmd := d.keys(key)
			d.send(tea.PasteMsg{Content: b})
			if (key == "f" || key == "y") && cmd != nil {
				d.follow(cmd)
			}
			checkFrame(t, d, width, height, fmt.Sprint(keys))
		}
		d.send(snapshotMsg{p.snapshot()})
		checkFrame(t, d, width, height, fmt.Sprint(keys))
		title := d.m.View().WindowTitle
		if title != sanitize.Text(title) {
			t.Errorf("title %q", title)
		}
		if c := d.m.View().Cursor; c != nil && (c.X < 0 || c.X >= width) {
			t.Errorf("the cursor is in column %d of %d", c.X, width)
		}
	})
}

// follow runs a command and the commands that it causes.
func (d *driver) follow(cmd tea.Cmd) {
	msg := cmd()
	if _, task := msg.(kit.TaskMsg); task {
		d.send(msg)
		return
	}
	cmds, _ := commandsOf(msg)
	for _, c := range cmds {
		if c != nil {
			d.follow(c)
		}
	}
}

func TestWideSymbolsAreNotUsed(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	if wide, ascii := kit.Width("●") == 2, d.m.scene.Sym.Led == kit.ASCII().Led; wide != ascii {
		t.Errorf("wide %v, ASCII %v", wide, ascii)
	}
}
