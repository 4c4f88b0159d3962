package ui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/act"
	"electop/ui/kit"
)

// checkFrame fails unless the frame has exactly the window's size and contains only text and SGR sequences.
func checkFrame(t *testing.T, d *driver, w, h int, what string) {
	t.Helper()
	content := d.m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) != h {
		t.Errorf("%s at %dx%d: %d lines", what, w, h, len(lines))
	}
	for i, l := range lines {
		// Bubble Tea counts by graphemes or by runes, as the terminal does.
		if g, r := ansi.StringWidth(l), ansi.StringWidthWc(l); g != w || r != w {
			t.Errorf("%s at %dx%d: line %d is %d wide by graphemes, %d by runes: %q", what, w, h, i, g, r, ansi.Strip(l))
			return
		}
	}
	checkOnlySGR(t, content, what)
}

// checkOnlySGR fails if the text contains control bytes other than line feeds and colours.
func checkOnlySGR(t *testing.T, content, what string) {
	t.Helper()
	if !utf8.ValidString(content) {
		t.Errorf("%s: not UTF-8", what)
	}
	for i := 0; i < len(content); {
		if content[i] == 0x1b {
			n := sgrLength(content[i:])
			if n == 0 {
				t.Errorf("%s: the screen contains an escape sequence: %q", what, content[i:min(len(content), i+20)])
				return
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(content[i:])
		if onLetter := "a" + string(r); r != '\n' && sanitize.Text(onLetter) != onLetter { // a combining mark is only safe after a letter
			t.Errorf("%s: %U got through", what, r)
			return
		}
		i += n
	}
}

// sgrLength returns the length of the SGR sequence at the start of s, or 0 if there is none.
func sgrLength(s string) int {
	rest, found := strings.CutPrefix(s, "\x1b[")
	if !found {
		return 0
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if n < 0 || rest[n] != 'm' {
		return 0
	}
	return n + 3
}

// states returns key sequences that open every mode of the screen.
func states() []string {
	return []string{
		"", "k", "k tab", "k shift+tab", "enter", "?", "2", "c", "/ '世\u0301!x", ": 'so", "g r", "g x", "g space space space space x", "p", "2 / 'zz enter", "s",
		"tab", "g tab", "g j j", "g j j tab", "3", "3 enter", "3 s s S", "3 x", "3 space space x f", "3 / 'node:n!世", "g x f j",
		"g space space space r j j j j pgdown pgdown y", "3 f", "3 f enter", "g space / 'zz enter r space", "g r j j j j pgdown pgdown y u",
	}
}

// Each width and height occurs with each snapshot, and each state with a fifth of the sizes.
func TestEveryWidthFits(t *testing.T) {
	for _, name := range []string{"hostile", "crowd:300", "lost", "empty filtered"} {
		size := 0
		for _, keys := range states() {
			d := drive(t, snapshotOf(strings.Fields(name)...), 80, 24, searches)
			d.keys(strings.Fields(keys)...)
			for range 20 {
				w, h := 40+size*37%181, 10+size*7%51
				d.resize(w, h)
				checkFrame(t, d, w, h, name+" after "+keys)
				size++
			}
			if t.Failed() {
				return
			}
		}
	}
}

func TestSmallWindows(t *testing.T) {
	for w := range 40 {
		for h := range 12 {
			d := drive(t, mixedSnapshot(), w, h)
			d.keys("j", "enter", "tab", "?", "esc", "r", "esc", "/", "esc", "2", "j")
			if w > 0 && h > 0 {
				checkFrame(t, d, w, h, "small")
			} else if d.text() != "" {
				t.Errorf("%dx%d draws %q", w, h, d.text())
			}
		}
	}
	drive(t, mixedSnapshot(), 39, 10).wants("electop needs 40x10")
}

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
	snap := snapshotOf("studied", "around:"+[]string{"auth", "billing", "pg"}[p.rand.IntN(3)])
	if p.rand.IntN(4) == 0 {
		change(snap, "lost", "")
	}
	if p.rand.IntN(4) == 0 {
		kinds := []election.PartKind{election.PartKeys, election.PartNames, election.PartSessions, election.PartChecks}
		change(snap, "stale", string(kinds[p.rand.IntN(len(kinds))]))
		snap.Connection.Stale = append(snap.Connection.Stale, stalePart("service/", 0, 0))
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

// options sets functions that return permissions and keys with hostile texts.
func (p *poisoner) options(o *Options) {
	finds(p.rand.IntN(2) == 0, func(string) []string { return []string{p.text("locks/nightly")} })(o)
	o.ASCII = p.rand.IntN(4) == 0
	o.Address, o.Demo = p.text("127.0.0.1:8500"), p.text("")
	o.Patterns = []string{p.text("service/*/leader"), p.text("a/**")}
	asks(&election.MissingRules{election.ActionRelease: p.text("key"), election.ActionDestroy: p.text("session")})(o)
	search := fake(o).onHoldings
	fake(o).onHoldings = func(ctx context.Context, datacenter string, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
		found, complete, _ := search(ctx, datacenter, sessions, progress)
		return found, complete, errors.New(p.text("no response"))
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
		keys := strings.Fields(states()[int(state)%len(states())])
		d := drive(t, p.snapshot(), width, height, p.options)
		kinds := []act.OutcomeKind{act.OutcomeDone, act.OutcomeChanged, act.OutcomeDenied, act.OutcomeFailed, act.OutcomeUnknown}
		d.op.outcome = act.Outcome{Kind: kinds[int(state)%len(kinds)], Reason: p.text("no response")}
		d.send(tea.ColorProfileMsg{})
		for _, key := range keys {
			cmd := d.keys(key)
			d.send(tea.PasteMsg{Content: b})
			if (key == "f" || key == "y") && cmd != nil {
				d.follow(cmd)
			}
			checkFrame(t, d, width, height, fmt.Sprint(keys))
		}
		d.send(p.snapshot())
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
	for _, c := range commandsOf(msg) {
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
