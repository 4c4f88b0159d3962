package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/insight"
)

func TestWrapped(t *testing.T) {
	key := "service/" + strings.Repeat("x", 60)
	for _, tt := range []struct{ name, line, want string }{
		{"short", "  key       The key is unlocked.", "  key       The key is unlocked."},
		{"label", "  warning   make sure that it has stopped, then go on", "  warning   make sure that it has\n            stopped, then go on"},
		{"no label", "Release web (key service/web/leader) and more.", "Release web (key service/web/leader) and\n    more."},
		{"long word", "  deleted   " + key + " (not watched)", "  deleted   " + key + "\n            (not watched)"},
		{"command", "  better    patronictl switchover --scope a-cluster", "  better    patronictl switchover --scope a-cluster"},
		{"wide runes", "  leader    選挙選挙選挙選 挙選挙選挙選挙", "  leader    選挙選挙選挙選\n            挙選挙選挙選挙"},
	} {
		if got := wrapped(tt.line, 40); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// Nothing of a plan for a few elections scrolls away, and what electop does not
// do stands right above the question.
func TestAPlanForThreeElectionsFitsAScreen(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	cluster(w, p)
	for _, name := range []string{"web", "mail", "chat"} {
		w.acquire(p+"/"+name+"/leader", w.session(func(s *api.SessionEntry) { s.Name = name }), name+"-1")
	}
	d := deps{stdin: strings.NewReader("n\n"), interactive: true}
	r := w.runWith(d, "release", "web", "mail", "chat", "-k", p+"/*/leader").must(t, exitFailed)
	lines := strings.Split(r.errOut, "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines: %s", len(lines), r.errOut)
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	d.stdin = strings.NewReader("n\n")
	r = w.runWith(d, "release", "db", "web", "-k", p+"/*/leader").must(t, exitFailed)
	lines = strings.Split(r.errOut, "\n")
	above := strings.Join(lines[len(lines)-4:], "\n")
	has(t, above, "electop: db: nothing was changed: Patroni", "Use patronictl switchover db for a healthy primary, destroy for a dead one.", "Release web? [y/N]")
}

func TestSharedSentencesOfAPlanAreWrittenOnce(t *testing.T) {
	named := func(name, holder string) *subject {
		return &subject{
			effect:  insight.Effect{Key: "The key.", Holder: holder, Delay: "The delay."},
			outcome: insight.Outcome{Target: election.Target{Key: name, Election: name}},
		}
	}
	got := strings.Join(effectLines([]*subject{named("a", "One."), named("b", "Two."), named("c", "One.")}), "\n")
	want := "For each of them:\n  key       The key.\n  delay     The delay.\nFor a, c:\n  holder    One.\nFor b:\n  holder    Two."
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A value of many words as the leader's name does not fill the plan; JSON keeps it.
func TestALongLeaderIsCutInTexts(t *testing.T) {
	w := onMemory(t)
	value := strings.Repeat("leader-of-web", 9)
	s := w.session(nil)
	w.acquire("service/web/leader", s, value)
	lacks := func(text string) {
		t.Helper()
		if has(t, text, value[:60]+"…"); strings.Contains(text, value[:61]) {
			t.Errorf("%s", text)
		}
	}
	lacks(plan(t, w, "release", "web"))
	lacks(w.run("release", "web", "--yes").must(t, exitDone).out)
	w.acquire("service/web/leader", s, value)
	lacks(w.run("release", "web", "--yes", "--wait", "1ms").must(t, exitFailed).out)
	w.acquire("service/web/leader", s, value)
	has(t, w.run("release", "web", "--yes", "-o", "json").must(t, exitDone).out, value)
}

func TestAPlanNamesANodeOnce(t *testing.T) {
	for leader, want := range map[string]string{
		"sleep 3000 on node-1": "sleep 3000 on node-1, term 1, session s",
		"web-1":                "web-1, term 1, session s on node-1",
	} {
		if got := holder(election.Target{Leader: leader, Term: 1, Session: "s", Node: "node-1"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
