package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/consul/api"
)

// plan runs an action, answers its confirmation with no, and returns the plan.
func plan(t *testing.T, w *testConsul, args ...string) string {
	t.Helper()
	r := w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, args...).must(t, exitFailed)
	has(t, r.errOut, "? [y/N] ", "nothing was done")
	for line := range strings.FieldsFuncSeq(r.errOut, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if n := utf8.RuneCountInString(line); n > 80 && strings.Count(strings.TrimSpace(line), " ") > 20 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	return unwrapped(r.errOut)
}

// unwrapped joins the lines.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestPlanOfADestroyShowsEveryKey(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		leader, _ := cluster(w, p)
		w.acquire(p+"/elsewhere/leader", leader, "x")
		w.acquire(p+"/hidden", leader, "x")
		falls := []string{
			p + "/db/leader is deleted with its value ", p + "/elsewhere/leader is deleted with its value ",
			p + "/hidden is deleted with its value, not watched", p + "/db/members/pg1 is deleted with its value, not watched",
			"(behavior delete)", "Lock-delay 1ms", "4 keys in all. The whole store was searched.", "searching ",
		}
		for _, args := range [][]string{{"db"}, {"db", "elsewhere"}, {"--session", leader}} {
			text := plan(t, w, append([]string{"destroy", "-k", p + "/*/leader"}, args...)...)
			has(t, text, falls...)
			has(t, text, "Destroy the session", "pg1 on node-1 term 1", "pg2 (node-1)", "Destroy session ")
			if strings.Count(text, "db/leader is") != 1 {
				t.Errorf("%v: a key is listed twice: %s", args, text)
			}
		}
	})
}

// If a session leads no watched election, the plan shows the effects on the keys that the search found.
func TestPlanOfASessionWithoutElections(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	has(t, plan(t, w, "destroy", "--session", s), "Session "+s+" ", "0 keys in all.", "No lock-delay follows, because the session holds no key.")
	w.acquire("elsewhere/a", s, "x")
	w.acquire("elsewhere/b", s, "x")
	has(t, plan(t, w, "destroy", "--session", s), "The holder must detect", "Lock-delay", "2 keys in all.", "elsewhere/a is released, not watched")
}

func TestPlanCountsAllKeysAndNamesTen(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		s := w.session(nil)
		for i := range 252 {
			w.acquire(fmt.Sprintf("%s/locks/%03d", p, i), s, "x")
		}
		text := plan(t, w, "destroy", "--session", s, "-k", p+"/*/leader")
		has(t, text, "252 keys in all.", "and 242 more keys ", p+"/locks/000 is released, not watched", p+"/locks/009 is released, not watched")
		if n := strings.Count(text, "is released, not watched"); n != 10 {
			t.Errorf("the plan names %d keys, want 10", n)
		}
	})
}

// If no other candidate exists, the plan contains a warning. With --yes, electop prints the warning to standard
// error.
func TestAReleaseWithoutOtherCandidatesWarns(t *testing.T) {
	w := onMemory(t)
	s := w.session(func(s *api.SessionEntry) { s.Name = "lonely" })
	w.acquire("service/web/leader", s, "web-1")
	has(t, plan(t, w, "release", "web"), "Likely next no candidate was seen", "! No other candidate")
	r := w.run("release", "web", "--yes").must(t, exitOK)
	has(t, r.errOut, "electop: web: No other candidate")
}

func TestOnePlanAndOneConfirmationForSeveralElections(t *testing.T) {
	w := onMemory(t)
	for _, name := range []string{"web", "mail"} {
		w.acquire("service/"+name+"/leader", w.session(nil), name+"-1")
	}
	text := plan(t, w, "release", "web", "mail")
	has(t, text, "Release 2 elections. web web-1 on node-1 term 1, ", " mail mail-1 on node-1 term 1, ",
		"Release 2 elections? [y/N] ")
	if strings.Count(text, "The holder must") != 1 || strings.Count(text, "[y/N]") != 1 {
		t.Errorf("equal effects are not grouped: %s", text)
	}
	r := w.runWith(deps{stdin: strings.NewReader("y\n"), interactive: true}, "release", "web", "mail").must(t, exitOK)
	if r.out != "web: web-1 on node-1 was released; it may already lead again\nmail: mail-1 on node-1 was released; it may already lead again\n" {
		t.Errorf("out %q", r.out)
	}
}

// stopper cancels a command when it writes a word.
type stopper struct {
	buffer
	word string
	stop context.CancelFunc
}

func (s *stopper) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.word) {
		s.stop()
	}
	return s.buffer.Write(p)
}

func TestAnInterruptedScanDoesNothing(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	for i := range 200 {
		if _, err := w.client.KV().Put(&api.KVPair{Key: fmt.Sprintf("other/%03d", i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &stopper{word: "ctrl-c stops", stop: cancel}
	d := deps{stdin: strings.NewReader("y\n"), stdout: &buffer{}, stderr: out, interactive: true}
	if code := run(ctx, d, []string{"--http-addr", w.addr, "destroy", "web"}); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	has(t, out.String(), "the search was interrupted: nothing was done")
	if strings.Contains(out.String(), "[y/N]") || w.get("service/web/leader").Session != s {
		t.Errorf("%q", out.String())
	}
}
