package query_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/election/query"
)

// board returns an election with a known start of its term, one with an unknown start, a vacant one, and elections
// whose names look like words of a filter.
func board() []*election.Election {
	led := func(name, leader string, age time.Duration, known bool) *election.Election {
		return &election.Election{
			Name: name, Exists: true, Leader: leader, Since: now().Add(-age), SinceKnown: known, Term: 2,
			Session: &election.Session{ID: "id-" + name, Name: name, Node: "n 1", NodeChecks: []string{"serfHealth"}, TTL: 15 * time.Second, LockDelay: 15 * time.Second},
			Pair:    election.Pair{Key: "service/" + name + "/leader", Session: "ID-" + name, LockIndex: 2, Flags: election.LockFlag},
		}
	}
	web := led("web", "web on n 1", time.Hour, true)
	for i := range 4 {
		web.Terms = append(web.Terms, election.Term{Start: now().Add(-time.Duration(i) * time.Minute), StartKnown: true})
	}
	mail := &election.Election{Name: "mail", Exists: true, VacantSince: now().Add(-5 * time.Minute), VacantSinceKnown: true,
		Pair:  election.Pair{Key: "service/mail/leader"},
		Terms: []election.Term{{Node: "n2", Cause: election.CheckCritical, End: now().Add(-5 * time.Minute)}}}
	return []*election.Election{mail, led("old", "old-1", 5*time.Minute, false), led("state:vacant", "!x", time.Hour, true), web, led("[", "/a(/", time.Hour, true)}
}

func matching(f query.Filter) string {
	var names []string
	for _, e := range f.On(board(), nil, query.Facts{At: now()}).Select(board()) {
		names = append(names, e.Name)
	}
	return strings.Join(names, " ")
}

func TestFilter(t *testing.T) {
	const all = "mail old state:vacant web ["
	for _, c := range []struct{ text, want, err string }{
		{"", all, ""},
		{"WEB", "web", ""},
		{"!web", "mail old state:vacant [", ""},
		{"state:vacant", "mail", ""},
		{"!state:led", "mail", ""},
		{"state:VAC", "mail", ""},
		{`"state:vacant"`, "state:vacant", ""},
		{`!"state:vacant"`, "mail old web [", ""},
		{`leader:"web on n 1"`, "web", ""},
		{`leader:"!x"`, "state:vacant", ""},
		{"leader:!x", "state:vacant", ""},
		{"[", "[", ""},
		{`"/a(/"`, "[", ""},
		{"10.0.0.1:8500", "", ""},
		{"node:n2", "mail", ""},
		{"cause:check-crit", "mail", ""},
		{"election:we", "", ""},
		{"election:WEB", "web", ""},
		{"/^(web|mail)$/", "mail web", ""},
		{"/^WEB$/", "", ""}, // upper case: an exact match
		{`/^\Web$/`, "", ""},
		{`/^\web$/`, "web", ""},
		{`!/^\web$/ old`, "old", ""},
		{"/^web", "web", ""}, // incomplete, while the user types
		{"/", all, ""},
		{"!", all, ""},
		{"for:<10m", "mail", ""}, // the start of the term of old is unknown
		{"for:>4m", "mail old state:vacant web [", ""},
		{"for:>=1h", "state:vacant web [", ""},
		{"for:<1d1h", "mail state:vacant web [", ""},
		{"changes:>3", "web", ""},
		{"changes:4", "web", ""},
		{"changes:<1", "mail old state:vacant [", ""},
		{"advice:any", "web", ""}, // web flaps
		{"advice:flapping state:led", "web", ""},
		{"advice:urgent", "web", ""},

		{"session:ID-w", "web", ""},

		{"state:foo", all, `unknown state "foo": vacant, lock-delay, led, unreadable, idle, semaphore`},
		{"state:foo web", "web", `unknown state "foo": vacant`},
		{"state:", all, "state: needs a value, for example state:vacant"},
		{"foo:bar", all, `unknown word "foo:": use one of state: election:`},
		{"type:elected", all, "type: does not apply to elections"},
		{"/[a/ web", "web", "regex: missing closing ]: [a"},
		{"/a(/", all, "regex: missing closing ): a("},
		{"for:10m", all, "for: needs < or >, for example for:<10m"},
		{"for:<ten", all, "for: needs a duration"},
		{"for:<-5m", all, "for: needs a duration"},
		{"changes:x", all, "changes: needs a number"},
		{"state:\x1b[31m", all, "unknown state"},
	} {
		f := query.Parse(c.text, query.Elections)
		if got := matching(f); got != c.want {
			t.Errorf("%q gives %q, want %q", c.text, got, c.want)
		}
		if (f.Err == nil) != (c.err == "") || f.Err != nil && !strings.HasPrefix(f.Err.Error(), c.err) {
			t.Errorf("%q: %v, want %s", c.text, f.Err, c.err)
		}
		if f.Err != nil && strings.ContainsRune(f.Err.Error(), '\x1b') {
			t.Errorf("the error about %q contains an escape character", c.text)
		}
	}
}

// An action must not use a filter that matches more than the user typed.
func TestCheck(t *testing.T) {
	for text, ok := range map[string]bool{"web": true, "state:foo web": false, "state:": false, "!": false, "  ": false, "/[/": false} {
		if err := query.Parse(text, query.Elections).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestComplete(t *testing.T) {
	values := func(field string) []string {
		return map[string][]string{"node": {"a 1", "n1", "xn"}, "leader": {`"quoted"`, "web"}}[field]
	}
	for text, want := range map[string]string{
		"st":              "0 state:",
		"!st":             "0 !state:",
		"web n":           "4 node:",
		"state:l":         "0 state:lock-delay state:led",
		"!state:lock_":    "0 !state:lock-delay",
		"state:led":       "0",
		"node:":           `0 node:"a 1" node:n1 node:xn`,
		"node:n":          "0 node:n1 node:xn",
		`node:"a`:         `0 node:"a 1"`,
		`node:"a `:        `0 node:"a 1"`,
		"leader:":         `0 leader:"\"quoted\"" leader:web`,
		"for:":            "0 for:<10m",
		"type:":           "0", // no field of this list
		"foo:":            "0",
		"/st":             "0",
		`"st`:             "0",
		"advice:orphaned": "0 advice:orphaned_sessions",
	} {
		start, options := query.Complete(text, query.Elections, values)
		if got := strings.TrimSpace(string(rune('0'+start)) + " " + strings.Join(options, " ")); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		for _, o := range options {
			if again, _ := query.Complete(text[:start]+o, query.Elections, values); again != start && !strings.HasSuffix(o, ":") {
				t.Errorf("%q: the option %s is more than one word", text, o)
			}
		}
	}
	if start, options := query.Complete("web ", query.Elections, values); start != 4 || len(options) != len(query.FieldsOf(query.Elections)) {
		t.Errorf("after a blank: got offset %d and the options %q, want offset 4 and every field", start, options)
	}
}

func TestParseOrder(t *testing.T) {
	for text, want := range map[string]query.Order{
		"election": {}, "problems": {Key: query.ByProblems}, "FOR reverse": {Key: query.ByFor, Reverse: true}, "cha rev": {Key: query.ByChanges, Reverse: true},
	} {
		got, err := query.ParseOrder(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if again, err := query.ParseOrder(got.String()); err != nil || again != got {
			t.Errorf("%s: %v, %v", got, again, err)
		}
	}
	for _, text := range []string{"", "x", "for down", "for reverse x"} {
		if got, err := query.ParseOrder(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Advice from an earlier Matcher is reused for unchanged elections, but only while it is recent.
func TestAdviceFollowsChanges(t *testing.T) {
	es, f := board(), query.Parse("advice:urgent", query.Elections)
	names := func(m query.Matcher, of []*election.Election) string {
		var all []string
		for _, e := range m.Select(of) {
			all = append(all, e.Name)
		}
		return strings.Join(all, " ")
	}
	first := f.On(es, nil, query.Facts{At: now()})
	overwritten := *es[1]
	overwritten.Pair.LockIndex = 0
	changed := slices.Clone(es)
	changed[1] = &overwritten
	second := f.After(first, changed, nil, query.Facts{At: now().Add(time.Second)})
	if got := names(second, changed); got != "old web" {
		t.Errorf("after a change: got %s, want old web", got)
	}
	if got := names(second, es); got != "web" {
		t.Errorf("with the earlier snapshot: got %s, want web", got)
	}
	if got := names(f.After(second, changed, nil, query.Facts{At: now().Add(time.Hour)}), changed); got != "old" { // web no longer flaps
		t.Errorf("an hour later: got %s, want old", got)
	}
	if got := names(query.Parse("!advice:urgent", query.Elections).After(first, es, nil, query.Facts{At: now()}), es); got != "mail old state:vacant [" {
		t.Errorf("the inverse filter selects %s, want all other elections", got)
	}
}
