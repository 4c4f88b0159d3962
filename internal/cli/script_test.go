package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
	"electop/internal/etcdtest"
)

// script is one scenario of testdata/*.txt; testdata/README.md describes the language.
type script struct {
	*federation
	options []string
	vars    map[string]string
	flags   []string // added to every command line
	rewrite func(string) string
	jobs    map[string]*job
	before  []string // steps that run before the next confirmation is answered
	last    result
	etcd    *etcdtest.Cluster
	proxied bool

	mu    sync.Mutex
	rules []*rule
}

var (
	// shared is held by the script that uses the shared agent: the sessions of another one could be candidates.
	shared  sync.Mutex
	scripts int // how many scripts have used that agent
)

// rule changes the response to requests, or runs a step before them.
type rule struct {
	on, after, do, body string // on and after are texts in a request
	status, nth, seen   int
	active              bool
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, part := range strings.Split("\n"+string(text), "\n-- ")[1:] {
			head, steps, _ := strings.Cut(part, "\n")
			name, options, _ := strings.Cut(head, " [")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) {
				t.Parallel()
				runScript(t, strings.Fields(strings.TrimSuffix(options, "]")), steps)
			})
		}
	}
}

func runScript(t *testing.T, options []string, steps string) {
	has := func(option string) bool { return slices.Contains(options, option) }
	play := func(t *testing.T, f *federation) {
		s := &script{federation: f, options: options, vars: map[string]string{"dir": t.TempDir(), "master": f.token}, jobs: map[string]*job{}, rewrite: func(s string) string { return s }}
		if has("etcd") {
			s.etcd = etcdtest.Start(t, 1)
			s.flags = []string{"--endpoints", strings.Join(s.etcd.Endpoints(), ","), "--history", s.vars["dir"] + "/h.db"}
		}
		if has("both") && f.dc2 == nil && strings.HasSuffix(t.Name(), "/consul") {
			shared.Lock()
			t.Cleanup(shared.Unlock)
			scripts++ // with -count, a script runs several times on this agent
			p := fmt.Sprintf("script-%d", scripts)
			s.rewrite = strings.NewReplacer("service/", p+"/", "other/", p+"-other/", "node-a", p+"-a", "NODE-A", strings.ToUpper(p)+"-A", "node-b", p+"-b", "node-c", p+"-c").Replace
			s.flags = []string{"-k", p + "/*/leader"}
		}
		s.play(steps)
	}
	if has("slow") {
		slow(t)
	}
	onBoth := func(memory, real func(*testing.T) *federation) {
		t.Run("memconsul", func(t *testing.T) { play(t, memory(t)) })
		t.Run("consul", func(t *testing.T) { play(t, real(t)) })
	}
	inMemory := func(t *testing.T) *federation { return &federation{testConsul: onMemory(t)} }
	on := func(agent func(testing.TB) *consultest.Agent) func(*testing.T) *federation {
		return func(t *testing.T) *federation { return &federation{testConsul: newTestConsul(t, agent(t).Addr())} }
	}
	switch {
	case has("etcd"):
		play(t, &federation{testConsul: withoutConsul(t)})
	case has("acl"):
		var config []consultest.Option
		if config = append(config, consultest.WithACL()); has("allow") {
			config = append(config, consultest.WithConfig(`{"acl":{"default_policy":"allow"}}`))
		}
		agent := consultest.Dev(t, config...)
		w := newTestConsul(t, agent.Addr())
		w.API = agent.Client()
		w.token = agent.Token()
		play(t, &federation{testConsul: w})
	case has("two") && has("both"):
		onBoth(memoryFederation, realFederation)
	case has("two"):
		play(t, memoryFederation(t))
	case has("own"): // Consul removes a node with the check serfHealth every minute if it is not a member
		onBoth(inMemory, on(func(t testing.TB) *consultest.Agent { return consultest.Dev(t) }))
	case has("both"):
		onBoth(inMemory, on(consultest.Shared))
	default:
		play(t, inMemory(t))
	}
}

var (
	commandLine = regexp.MustCompile(`^(~?)(\d*)((?:[yn⏎]|"[^"]*")?)\$ ?(.*)$`)
	expectation = regexp.MustCompile(`^(?:(\d+)× ?)?(!?)(2?)([>=])(?: (.*))?$`)
	argument    = regexp.MustCompile(`(?:[^\s']|'[^']*')+`)
	option      = regexp.MustCompile(`^([a-z]+)=(?s)(.*)$`)
	variable    = regexp.MustCompile(`\$\w+`)
)

func (s *script) play(steps string) {
	var group []string // a step and what must hold after it
	for _, line := range append(strings.Split(s.rewrite(steps), "\n"), "") {
		switch {
		case strings.HasPrefix(line, "#"):
		case len(group) > 0 && expectation.MatchString(line):
			group = append(group, line)
		default:
			if len(group) > 0 {
				s.perform(group[0], group[1:])
			}
			if group = nil; line != "" {
				group = []string{line}
			}
		}
	}
}

// expand replaces variables.
func (s *script) expand(line string) string {
	return variable.ReplaceAllStringFunc(line, func(name string) string {
		if value, known := s.vars[name[1:]]; known {
			return value
		}
		return name
	})
}

// perform runs one step and checks what must hold after it.
func (s *script) perform(line string, wants []string) {
	s.T.Helper()
	m := commandLine.FindStringSubmatch(line)
	if strings.HasPrefix(line, "get ") {
		eventually(s.T, line+" "+strings.Join(wants, "\n"), func() bool { return s.responds(words(s.expand(line))) && len(s.check(wants)) == 0 })
		return
	}
	if m == nil {
		s.step(s.expand(line))
		s.report(line, s.check(wants))
		return
	}
	code, _ := strconv.Atoi(m[2])
	run := func() []string {
		s.last = s.execute(m[3], words(s.expand(m[4])))
		return append(s.exited(code), s.check(wants)...)
	}
	if m[1] == "" {
		s.report(line, run())
		return
	}
	eventually(s.T, line+" "+strings.Join(wants, "\n"), func() bool { return len(run()) == 0 })
}

// responds sends a request, and reports whether the response has the status.
func (s *script) responds(args []string) bool {
	s.T.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	r, err := http.Get(args[2])
	if err != nil {
		return false
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	s.last = result{code: r.StatusCode, out: string(body)}
	return fmt.Sprint(r.StatusCode) == args[1]
}

func (s *script) report(line string, wrong []string) {
	s.T.Helper()
	if len(wrong) > 0 {
		s.T.Errorf("%s\nwant %s\nout: %s\nerr: %s", line, strings.Join(wrong, "\nwant "), s.last.out, s.last.errOut)
	}
}

func (s *script) exited(code int) []string {
	if s.last.code == code {
		return nil
	}
	return []string{fmt.Sprintf("exit code %d, got %d", code, s.last.code)}
}

// check returns the expectations that the last command does not meet.
func (s *script) check(wants []string) (wrong []string) {
	exact := map[string]string{}
	for _, want := range wants {
		m := expectation.FindStringSubmatch(s.expand(want))
		text := s.last.out
		if m[3] != "" {
			text = s.last.errOut
		}
		if m[4] == "=" {
			if exact[m[3]] += m[5] + "\n"; !pattern(`\A`, exact[m[3]]).MatchString(text + "\n") {
				wrong = append(wrong, want)
			}
			continue
		}
		var compact bytes.Buffer
		_ = json.Compact(&compact, []byte(text)) // does nothing to other texts
		found := 0
		for _, form := range []string{text, unwrapped(text), compact.String()} {
			if m[2] == "!" && form == unwrapped(text) {
				continue // … would match any text
			}
			found = max(found, len(pattern("", m[5]).FindAllString(form, -1)))
		}
		n, err := strconv.Atoi(m[1])
		if met := err == nil && found == n || err != nil && found > 0; met == (m[2] == "!") {
			wrong = append(wrong, want)
		}
	}
	for stream, want := range exact {
		if text := map[string]string{"": s.last.out, "2": s.last.errOut}[stream]; strings.Count(want, "\n") != max(1, strings.Count(text, "\n")) {
			wrong = append(wrong, "exactly "+want)
		}
	}
	return wrong
}

// pattern compiles a text in which … matches any text within a line, and ⏎ the end of a line.
func pattern(before, text string) *regexp.Regexp {
	return regexp.MustCompile(before + strings.NewReplacer("…", ".*", "⏎", "\n").Replace(regexp.QuoteMeta(text)))
}

// words splits a line like a shell. A key=value is an option only in steps.
func words(line string) (all []string) {
	for _, one := range argument.FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(one, "'", ""))
	}
	return all
}

func (s *script) execute(answers string, args []string) result {
	s.T.Helper()
	stdin := &confirmation{answer: strings.NewReader(strings.Trim(answers, `"⏎`) + "\n")}
	if steps := s.before; len(steps) > 0 {
		s.before, stdin.before = nil, func() { s.steps(steps) }
	}
	d := deps{stdin: stdin, interactive: answers != ""}
	if s.has("seen") {
		d.seen = time.Second / 2
	}
	return s.runWith(d, append(slices.Clone(s.flags), args...)...)
}

func (s *script) has(option string) bool { return slices.Contains(s.options, option) }

func (s *script) steps(all []string) {
	for _, one := range all {
		s.step(s.expand(one))
	}
}

// step runs a line that is no command line of electop.
func (s *script) step(line string) {
	s.T.Helper()
	name, rest, _ := strings.Cut(line, " ")
	options, args := map[string]string{}, []string{}
	for _, one := range words(rest) {
		if m := option.FindStringSubmatch(one); m != nil {
			options[m[1]] = m[2]
		} else {
			args = append(args, one)
		}
	}
	args = append(args, "", "", "")
	kv, flags := s.API.KV(), parsed[uint64](s, options["flags"])
	switch name {
	case "dc2":
		own := s.testConsul
		s.testConsul = s.dc2
		s.step(rest)
		s.testConsul = own
	case "lose":
		s.lose()
	case "before":
		s.before = append(s.before, rest)
	case "session":
		s.newSession(args[0], options)
	case "acquire":
		eventually(s.T, line, func() bool {
			ok, _, err := kv.Acquire(&api.KVPair{Key: args[0], Session: args[1], Value: []byte(args[2]), Flags: flags}, nil)
			return ok && err == nil
		})
	case "fill":
		for i := range parsed[int](s, args[0]) {
			s.acquire(fmt.Sprintf("%s%03d", args[1], i), args[2], "x")
		}
	case "contend":
		contend(s.T, s.testConsul, args[0], args[2], strings.Split(args[1], ",")...)
	case "overwrite": // one transaction, so that no observer sees the LockIndex of the acquire
		op := func(verb api.KVOp) *api.TxnOp {
			return &api.TxnOp{KV: &api.KVTxnOp{Verb: verb, Key: args[0], Session: args[1], Value: []byte(args[2])}}
		}
		_, _, _, err := s.API.Txn().Txn(api.TxnOps{op(api.KVLock), op(api.KVSet)}, nil)
		s.must(err)
	case "unlock":
		s.Release(args[0], args[1])
	case "put":
		_, err := kv.Put(&api.KVPair{Key: args[0], Value: []byte(args[1]), Flags: flags}, nil)
		s.must(err)
	case "delete":
		s.Delete(args[0])
	case "destroy":
		s.Destroy(args[0])
	case "node":
		s.node(args[0])
	case "health":
		s.nodeHealth(args[0], args[1])
	case "token":
		s.vars[args[0]] = token(s.T, s.API, args[0], strings.TrimPrefix(rest, args[0]+" "))
	case "rules":
		policy, _, err := s.API.ACL().PolicyReadByName(args[0], nil)
		s.must(err)
		policy.Rules = strings.TrimPrefix(rest, args[0]+" ")
		_, _, err = s.API.ACL().PolicyUpdate(policy, nil)
		s.must(err)
	case "anonymous":
		anonymous(s.testConsul, rest)
	case "file":
		s.vars[args[0]] = filepath.Join(s.T.TempDir(), args[0])
		s.must(os.WriteFile(s.vars[args[0]], []byte(strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(rest, args[0]), " "), "⏎", "\n")), 0o600))
	case "proxy":
		s.proxy(&rule{
			on: options["on"], after: options["after"], do: options["do"], body: options["body"],
			status: parsed[int](s, options["reply"]), nth: parsed[int](s, options["nth"]),
		})
	case "address":
		s.vars[args[0]] = freeAddress(s.T)
	case "direct":
		s.mu.Lock()
		s.rules = nil
		s.mu.Unlock()
	case "background", "terminal":
		s.mu.Lock() // a rule may interrupt it
		defer s.mu.Unlock()
		s.jobs[args[0]] = s.backgroundWith(deps{stdin: strings.NewReader("y\n"), interactive: name == "terminal"}, append(slices.Clone(s.flags), words(strings.TrimPrefix(rest, args[0]+" "))...)...)
	case "await":
		want := pattern("", strings.TrimPrefix(rest, args[0]+" "))
		eventually(s.T, line, func() bool {
			return want.MatchString(s.jobs[args[0]].out.String()) || want.MatchString(s.jobs[args[0]].errOut.String())
		})
	case "interrupt":
		s.jobs[args[0]].interrupt()
	case "stop", "end":
		if name == "stop" {
			s.jobs[args[1]].interrupt()
		}
		s.last = s.jobs[args[1]].wait()
		s.report(line, s.exited(parsed[int](s, args[0])))
	case "lease", "key", "remove", "present", "gone", "reader", "alarm":
		s.must(s.stepEtcd(name, args))
	default:
		s.assert(line, name, args)
	}
}

// assert runs a step that reads Consul until it has the expected state.
func (s *script) assert(line, name string, args []string) {
	s.T.Helper()
	eventually(s.T, line, func() bool {
		pair := s.Get(args[0])
		switch name {
		case "held": // with a value, if one is given
			return pair != nil && pair.Session == args[1] && (args[2] == "" || string(pair.Value) == args[2])
		case "free":
			return pair == nil || pair.Session == ""
		case "note":
			s.vars["noted"] = fmt.Sprint(pair.ModifyIndex)
			return true
		case "noted":
			return fmt.Sprint(pair.ModifyIndex) == s.vars["noted"]
		case "absent":
			return pair == nil
		case "read":
			for name, value := range map[string]any{"leader": pair.Session, "create": pair.CreateIndex, "modify": pair.ModifyIndex} {
				s.vars[name] = fmt.Sprint(value)
			}
			return true
		case "campaigns":
			return fmt.Sprint(len(s.campaigns())) == args[0]
		case "exists", "missing":
			_, err := os.Stat(args[0])
			return (err == nil) == (name == "exists")
		case "alive", "ended":
			e, _, err := s.API.Session().Info(args[0], nil)
			return err == nil && (e != nil) == (name == "alive")
		}
		s.T.Fatalf("unknown step %q", line)
		return false
	})
}

func (s *script) must(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

func parsed[T int | uint64](s *script, text string) (n T) {
	s.T.Helper()
	if text != "" {
		_, err := fmt.Sscan(text, &n)
		s.must(err)
	}
	return n
}

// newSession creates a session. $name is its ID, $NAME the same in upper case, $name8 its start.
func (s *script) newSession(name string, options map[string]string) {
	s.T.Helper()
	delay, err := time.ParseDuration(cmp.Or(options["delay"], "10ms"))
	s.must(err)
	id := s.session(api.SessionEntry{Name: options["name"], Node: options["node"], TTL: options["ttl"], LockDelay: delay, Behavior: options["behavior"]})
	s.vars[name], s.vars[strings.ToUpper(name)], s.vars[name+"8"] = id, strings.ToUpper(id), id[:8]
}

// proxy adds a rule. From then on, electop's requests pass a proxy.
func (s *script) proxy(one *rule) {
	s.T.Helper()
	s.mu.Lock()
	s.rules = append(s.rules, one)
	one.active = one.after == ""
	s.mu.Unlock()
	if s.proxied {
		return
	}
	s.proxied = true
	s.Addr = consultest.ReverseProxy(s.T, s.Addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		text := fmt.Sprintf("%s %s %s", r.Method, r.URL, body)
		if s.respond(w, r, text) {
			return
		}
		s.mu.Lock()
		due := election.Without(s.rules, func(one *rule) bool { return one.after == "" || !strings.Contains(text, one.after) })
		if len(due) == 0 {
			s.mu.Unlock()
			forward.ServeHTTP(w, r)
			return
		}
		defer s.mu.Unlock()
		forward.ServeHTTP(w, r) // no other request passes until the rules are applied
		for _, one := range due {
			if one.active = true; one.do != "" {
				s.steps(strings.Split(one.do, "; "))
			}
		}
	})
}

// respond applies the rules to a request, and reports whether one has responded to it.
func (s *script) respond(w http.ResponseWriter, r *http.Request, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.rules {
		if !one.active || !strings.Contains(text, one.on) || one.after != "" && one.do != "" {
			continue
		}
		one.seen++
		switch {
		case one.seen < one.nth:
		case one.do != "":
			s.steps(strings.Split(one.do, "; "))
		case one.status == 0:
			s.mu.Unlock()
			<-r.Context().Done()
			s.mu.Lock()
			return true
		default:
			w.Header().Set("X-Consul-Index", "1")
			w.WriteHeader(one.status)
			_, _ = io.WriteString(w, one.body)
			return true
		}
	}
	return false
}
