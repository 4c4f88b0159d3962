package cli

import (
	"strings"
	"testing"

	"electop/internal/consultest"
)

// lacks fails the test if a text contains one of these.
func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q contains %q", text, part)
		}
	}
}

func TestPatternThatMatchesNothingIsExplained(t *testing.T) {
	w := onMemory(t)
	const says = "no key matches service/*/leader; electop discover lists the locks"
	r := w.run("list", "-o", "json").must(t, exitOK)
	has(t, r.errOut, says)
	if r.out != "[]\n" {
		t.Errorf("out %q", r.out)
	}
	for _, args := range [][]string{{"list", "web"}, {"show", "web"}, {"watch", "web"}, {"release", "web", "--yes"}, {"release", "--node", "n", "--yes"}} {
		r := w.run(args...).must(t, exitNoElection)
		has(t, r.errOut, "no such election", says)
	}
}

func TestTokenWithoutReadPermissionIsExplained(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("app/lock", s, "app-1")
	none := token(t, w.client, "none", `session_prefix "" { policy = "read" }`)
	apps := token(t, w.client, "apps", `key_prefix "app/" { policy = "read" }`)

	r := w.run("list", "-o", "json", "--token", none).must(t, exitOK)
	if r.out != "[]\n" {
		t.Errorf("out %q", r.out)
	}
	for _, tok := range []string{none, apps, ""} {
		r = w.run("list", "--token", tok).must(t, exitOK)
		has(t, r.errOut, "no readable key matches service/*/leader: this token cannot read all keys")
	}
	for _, tok := range []string{none, apps} {
		for _, args := range [][]string{{"list", "web"}, {"show", "web"}, {"watch", "web"}, {"release", "web", "--yes"}, {"show", "service/web/leader"}} {
			r := w.run(append(args, "--token", tok)...).must(t, exitDenied)
			has(t, r.errOut, "this token cannot read service/web/leader")
			if strings.Count(r.errOut, "\n") != 1 {
				t.Errorf("%v: %q", args, r.errOut)
			}
		}
		r := w.run("show", "mail", "--token", tok).must(t, exitNoElection)
		has(t, r.errOut, "no such election: mail")
	}
}

func TestKeyOutsideThePatternsIsExplained(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	w.acquire(p+"/core/lock", w.session(nil), "vault-1")
	w.acquire(p+"/web/leader", w.session(nil), "web-1")
	for _, command := range []string{"show", "list", "wait"} {
		args := []string{command, p + "/core/lock", "-k", p + "/*/leader"}
		if command == "wait" {
			args = append(args, "--led")
		}
		r := w.run(args...).must(t, exitNoElection)
		has(t, r.errOut, "no such election", "the patterns do not select it", "-k "+p+"/core/lock")
	}
	r := w.run("show", "/"+p+"/core/lock", "-k", p+"/*/leader").must(t, exitNoElection)
	has(t, r.errOut, "the patterns do not select it")
	r = w.run("show", p+"/web/leader", "-k", p+"/*/leader", "-k", "!"+p+"/web/*").must(t, exitNoElection)
	has(t, r.errOut, "the patterns do not select it")
	r = w.run("show", p+"/none/leader", "-k", p+"/*/leader").must(t, exitNoElection)
	lacks(t, r.errOut, "select it")
	w.run("show", p+"/core/lock", "-k", p+"/core/lock").must(t, exitOK)
}
