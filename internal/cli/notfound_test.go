package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
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
	r := w.run("list", "-o", "json").must(t, exitOK)
	if r.out != "[]\n" {
		t.Errorf("with an empty store, list printed %q", r.out)
	}
	has(t, r.errOut, "no key matches service/*/leader: the KV store has no keys")

	w.acquire("service/web/lock", w.session(nil), "web-1")
	r = w.run("list", "-o", "json").must(t, exitOK)
	if r.out != "[]\n" {
		t.Errorf("out %q", r.out)
	}
	has(t, r.errOut, "no key matches service/*/leader", "nearby keys with a lock: service/web/lock", "-k")
	lacks(t, r.errOut, "token")

	r = w.run("list", "--advice").must(t, exitOK)
	has(t, r.errOut, "service/web/lock")
	for _, args := range [][]string{{"list", "web"}, {"show", "web"}, {"watch", "web"}, {"release", "web", "--yes"}, {"release", "--node", "n", "--yes"}} {
		r := w.run(args...).must(t, exitNoElection)
		has(t, r.errOut, "no such election", "no key matches service/*/leader", "service/web/lock")
		if r.out != "" {
			t.Errorf("%v: out %q", args, r.out)
		}
	}
}

func TestTokenWithoutReadPermissionIsExplained(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("app/lock", s, "app-1")
	const rule = `key_prefix "service/" { policy = "read" }`
	none := token(t, w.client, "none", `session_prefix "" { policy = "read" }`)
	apps := token(t, w.client, "apps", `key_prefix "app/" { policy = "read" }`)

	r := w.run("list", "-o", "json", "--token", none).must(t, exitOK)
	if r.out != "[]\n" {
		t.Errorf("out %q", r.out)
	}
	has(t, r.errOut, "this token cannot read any key", "elections may be missing", rule)
	lacks(t, r.errOut, "matches nothing", "no key matches")
	r = w.run("list").must(t, exitOK)
	has(t, r.errOut, "the anonymous token (no token was given) cannot read any key", rule)

	r = w.run("list", "--token", apps).must(t, exitOK)
	has(t, r.errOut, "no readable key matches service/*/leader", "this token cannot read all keys", "nearby keys with a lock: app/lock")

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

func TestWatchExplainsThatNothingMatches(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("app/lock", s, "app-1")
	r, errOut := io.Pipe()
	defer r.Close()
	var out buffer
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	var ended sync.WaitGroup
	ended.Go(func() {
		run(ctx, deps{stdin: strings.NewReader(""), stdout: &out, stderr: errOut}, []string{"--http-addr", w.addr, "watch", "-o", "json"})
		errOut.Close()
	})
	said := bufio.NewReader(r)
	for _, want := range []string{"no key matches service/*/leader", "nearby keys with a lock: app/lock"} {
		if line, err := said.ReadString('\n'); err != nil || !strings.Contains(line, want) {
			t.Errorf("%q %v", line, err)
		}
	}
	cancel()
	ended.Wait()
	if out.String() != "" {
		t.Errorf("standard output: %q", out.String())
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
		has(t, r.errOut, "no such election", "no pattern selects it", "-k "+p+"/core/lock")
	}
	r := w.run("show", "/"+p+"/core/lock", "-k", p+"/*/leader").must(t, exitNoElection)
	has(t, r.errOut, "no pattern selects it")
	r = w.run("show", p+"/web/leader", "-k", p+"/*/leader", "-k", "!"+p+"/web/*").must(t, exitNoElection)
	has(t, r.errOut, "a pattern excludes it")
	r = w.run("show", p+"/none/leader", "-k", p+"/*/leader").must(t, exitNoElection)
	lacks(t, r.errOut, "no pattern selects it")
	w.run("show", p+"/core/lock", "-k", p+"/core/lock").must(t, exitOK)
}
