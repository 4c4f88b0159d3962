package insight

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"electop/election"
)

var update = flag.Bool("update", false, "write docs/actions.md")

// holderExamples returns one hold for each kind of software, with the data that the software writes.
func holderExamples() []*election.Election {
	lock := func(name string, change ...func(*election.Session)) *election.Session {
		return newSession("a", name, "node-1", append([]func(*election.Session){ttl(15 * time.Second)}, change...)...)
	}
	pg1 := newSession("a", "db-pg1", "node-1", patroni)
	refreshed := held("service/web/leader", "12:00:00", lock("web"))
	refreshed.Events = []election.Event{{Type: election.Updated, Session: "a", CreateIndex: 1}}
	return []*election.Election{
		held("service/web/leader", `{"Node":"node-1"}`, newSession("a", "web", "node-1")),
		refreshed,
		flagged(held("service/web/leader", "web-1", lock("Consul API Lock")), election.LockFlag),
		flagged(held("backup/.lock", "", lock("Consul lock for './backup' at 'backup'")), election.LockFlag),
		flagged(held("gpu/a", "", lock("Consul API Semaphore", func(s *election.Session) { s.Behavior = election.BehaviorDelete })), election.SemaphoreFlag),
		flagged(held("service/web/leader", "node-1", lock("electop campaign")), election.LockFlag),
		flagged(held("vault/core/lock", "uuid", lock("Vault Lock")), election.LockFlag),
		held("service/db/leader", "pg1", pg1),
		held("service/db/members/pg1", memberJSON, pg1),
	}
}

// sentences returns all texts of an effect.
func (f Effect) sentences() []string {
	return append([]string{f.Refusal, f.Key, f.Holder, f.Delay, f.Better}, f.Warnings...)
}

// docs/actions.md must contain the same sentences as the effects, because users read the document when they plan an
// action, and the effects when they confirm it.
// sources names the section of docs/actions.md with the measurement of each kind, or why there is none.
func sources() map[HolderKind]string {
	return map[HolderKind]string{
		HolderUnknown: "Refreshing and renewing holders", HolderRefreshing: "Refreshing and renewing holders", HolderAPILock: "api.Lock and npm's client",
		HolderConsulLock: "consul lock", HolderSemaphore: "Semaphores", HolderCampaign: "electop campaign", HolderPatroni: "Patroni",
		HolderVault:         "unproven: according to Vault's source code and documentation; Vault was not run",
		HolderPatroniMember: "unproven: according to Patroni's source code",
	}
}

func TestActionsDocument(t *testing.T) {
	const path = "../../docs/actions.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	var kinds strings.Builder
	seen := map[HolderKind]bool{}
	for _, e := range holderExamples() {
		kind, guess := kindOf(e, nil)
		if guess || seen[kind] {
			t.Fatalf("the kind %s is a guess or has another example", kind)
		}
		seen[kind] = true
		kinds.WriteString(describeKind(e))
		if source := sources()[kind]; !strings.HasPrefix(source, "unproven: ") && !strings.Contains(doc, "\n### "+source+"\n") {
			t.Errorf("%s: section %q is missing in %s", kind, source, path)
		}
	}
	if len(seen) != 9 {
		t.Errorf("%d kinds have an example, want 9", len(seen))
	}
	const begin, end = "<!-- kinds of holders -->\n", "<!-- end of kinds of holders -->\n"
	before, rest, _ := strings.Cut(doc, begin)
	got, after, _ := strings.Cut(rest, end)
	switch want := "\n" + kinds.String(); {
	case got == want:
	case *update:
		doc = before + begin + want + end + after
		if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s differs from the effects; run go test ./election/insight -run TestActionsDocument -update", path)
	}
	for _, e := range append(holderExamples(), sized(400_000)) {
		for _, f := range []Effect{EffectOf(election.ActionRelease, e, nil, 0), EffectOf(election.ActionDestroy, e, nil, 0)} {
			for _, sentence := range f.sentences() {
				if !strings.Contains(doc, sentence) {
					t.Errorf("%s lacks %q", path, sentence)
				}
			}
		}
	}
}

func describeKind(e *election.Election) string {
	kind, _ := kindOf(e, nil)
	var b strings.Builder
	name := textsOf()[kind].software
	fmt.Fprintf(&b, "### Held by %s\n\n| | release | destroy |\n| --- | --- | --- |\n", name)
	release, destroy := EffectOf(election.ActionRelease, e, nil, -1), EffectOf(election.ActionDestroy, e, nil, -1)
	row := func(label, a, b2 string) {
		if a+b2 != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", label, a, b2)
		}
	}
	row("refused", release.Refusal, destroy.Refusal)
	row("key", release.Key, destroy.Key)
	row("holder", release.Holder, destroy.Holder)
	row("delay", release.Delay, destroy.Delay)
	row("warnings", strings.Join(release.Warnings, " "), strings.Join(destroy.Warnings, " "))
	row("better", code(release.Better), code(destroy.Better))
	row("source", sources()[kind], sources()[kind])
	return b.String() + "\n"
}

func code(command string) string {
	if command == "" {
		return ""
	}
	return "`" + command + "`"
}

func sized(n int) *election.Election {
	return held("service/web/leader", strings.Repeat("x", n), newSession("a", "web", "n1"))
}

func TestEffectWarns(t *testing.T) {
	const (
		alone   = "No other candidate was seen: the election may stay without a leader."
		child   = "consul lock signals its child process only"
		deletes = "The session's behavior is delete, but a release keeps the key"
		two     = "two writable primaries"
		unread  = "Patroni cannot be ruled out"
	)
	examples := holderExamples()
	recipe, consulLock, contender, db := examples[0], examples[3], examples[4], examples[7]
	deleting := held("service/web/leader", "web-1", newSession("a", "web", "n1", patroni))
	plain, object, other := held("service/web/leader", "web-1", nil), held("service/web/leader", `{"Node":"n1"}`, nil), held("service/web", "web-1", nil)
	tests := []struct {
		name       string
		action     election.ActionKind
		e          *election.Election
		s          *election.Surroundings
		candidates int
		want       []string
	}{
		{"candidates", election.ActionRelease, recipe, nil, 2, nil},
		{"unknown candidates", election.ActionRelease, recipe, nil, -1, nil},
		{"large value, destroy", election.ActionDestroy, sized(400_000), nil, 1, nil},
		{"the largest value for a transaction", election.ActionRelease, sized(largestTxnValue), nil, 1, nil},
		{"no candidate, release", election.ActionRelease, recipe, nil, 0, []string{alone}},
		{"no candidate, destroy", election.ActionDestroy, recipe, nil, 0, []string{alone}},
		{"no waiter for a slot", election.ActionDestroy, contender, nil, 0, nil},
		{"consul lock, no candidate", election.ActionRelease, consulLock, nil, 0, []string{child, alone}},
		{"Patroni, destroy", election.ActionDestroy, db, nil, 1, []string{two}},
		{"Patroni, release is refused", election.ActionRelease, db, nil, 0, nil},
		{"behavior delete, release", election.ActionRelease, deleting, nil, 1, []string{deletes}},
		{"behavior delete, destroy", election.ActionDestroy, deleting, nil, 1, nil},
		{"nothing read, release", election.ActionRelease, plain, nil, 1, []string{unread}},
		{"siblings denied, release", election.ActionRelease, plain, &election.Surroundings{Key: plain.Key(), SiblingsErr: "denied"}, 1, []string{unread}},
		{"siblings read, release", election.ActionRelease, plain, around(plain, nil), 1, nil},
		{"nothing read, destroy", election.ActionDestroy, plain, nil, 1, nil},
		{"a value that is a JSON object, unlike Patroni's", election.ActionRelease, object, nil, 1, nil},
		{"a key that is not named leader, unlike Patroni's", election.ActionRelease, other, nil, 1, nil},
	}
	for _, tt := range tests {
		got := EffectOf(tt.action, tt.e, tt.s, tt.candidates).Warnings
		ok := len(got) == len(tt.want)
		for i := 0; ok && i < len(got); i++ {
			ok = strings.Contains(got[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEffectOfASession(t *testing.T) {
	plain := newSession("a", "web", "n1")
	pg1 := newSession("a", "db-pg1", "n1", patroni)
	contends := newSession("a", "Consul API Semaphore", "n1", func(s *election.Session) { s.Behavior = election.BehaviorDelete })
	web, mail := valued("service/web/leader", "a", "web-1"), valued("service/mail/leader", "a", "web-1")
	slot := election.Pair{Key: "gpu/a", Session: "a", Flags: election.SemaphoreFlag}
	lock := election.Pair{Key: "k", Session: "a", Flags: election.LockFlag}
	const (
		delay = "Lock-delay 15s: no candidate can acquire a key that it held for about 15s after the session ends."
		free  = " The slot of a semaphore is free immediately."
		more  = "The session may hold more keys than are listed."
	)
	tests := []struct {
		name     string
		session  *election.Session
		held     []election.Pair
		complete bool
		kind     HolderKind
		delay    string
		warnings string
	}{
		{"one lock", plain, []election.Pair{web}, true, HolderUnknown, delay, ""},
		{"one lock, not searched", plain, []election.Pair{web}, false, HolderUnknown, delay, more},
		{"nothing", plain, nil, true, HolderUnknown, "No lock-delay follows, because the session holds no key.", ""},
		{"nothing known", plain, nil, false, HolderUnknown, delay, more},
		{"a slot", contends, []election.Pair{slot}, true, HolderSemaphore, "A slot has no lock-delay, regardless of the session's lock-delay: a waiting contender takes the slot immediately.", ""},
		{"a slot, not searched", contends, []election.Pair{slot}, false, HolderSemaphore, delay + free, more},
		{"a slot and a lock", contends, []election.Pair{slot, web}, true, HolderUnknown, delay + free, ""},
		{"two locks of one kind", newSession("a", "Consul API Lock", "n1"), []election.Pair{lock, lock}, true, HolderAPILock, delay, ""},
		{"locks of several kinds", plain, []election.Pair{lock, mail}, true, HolderUnknown, delay, ""},
		{"recognised by its name", newSession("a", "electop campaign", "n1"), nil, false, HolderCampaign, delay, more},
		{"not read", nil, []election.Pair{web}, true, HolderUnknown, "The lock-delay is unknown, because the session was not read (Consul's default is 15s).", ""},
		{
			"Patroni's primary", pg1, []election.Pair{valued("service/db/members/pg1", "a", memberJSON), valued("service/db/leader", "a", "pg1")}, true, HolderPatroni,
			"Lock-delay 1ms: no candidate can acquire a key that it held for about 1ms after the session ends.", textsOf()[HolderPatroni].destroy.warning,
		},
		{
			"Patroni's primary, session not read", nil, []election.Pair{valued("service/db/leader", "a", "pg1"), valued("service/db/members/pg1", "a", memberJSON)}, false, HolderPatroni,
			"The lock-delay is unknown, because the session was not read (Consul's default is 15s).", textsOf()[HolderPatroni].destroy.warning + " " + more,
		},
		{
			"Patroni's replica", pg1, []election.Pair{valued("service/db/members/pg1", "a", memberJSON)}, true, HolderPatroniMember,
			"Lock-delay 1ms: no candidate can acquire a key that it held for about 1ms after the session ends.", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := EffectOfSession(tt.session, tt.held, tt.complete)
			if f.Kind != tt.kind || f.Delay != tt.delay || strings.Join(f.Warnings, " ") != tt.warnings || f.Key == "" || f.Holder == "" {
				t.Errorf("%+v", f)
			}
			if (f.Better == "patronictl switchover db") != (tt.kind == HolderPatroni) {
				t.Errorf("better: %q", f.Better)
			}
		})
	}
}

func TestEffectOfADestroy(t *testing.T) {
	web := func(change ...func(*election.Session)) *election.Election {
		return held("service/web/leader", "web-1", newSession("a", "web", "n1", change...))
	}
	delay := func(d time.Duration) func(*election.Session) { return func(s *election.Session) { s.LockDelay = d } }
	unread := web()
	unread.Session = nil
	semaphore := flagged(held("gpu/.lock", `{"Limit":2,"Holders":{"a":true}}`, nil), election.SemaphoreFlag)
	semaphore.Pair.Session = ""
	for want, e := range map[string]*election.Election{
		"every lock that it holds is released; values and flags are kept.":                web(),
		"every key that it holds is deleted with its value (behavior delete).":            web(patroni),
		"the session's behavior is unknown, because the session was not read.":            unread,
		"no candidate can acquire the key for about 15s after the session ends.":          web(delay(15 * time.Second)),
		"any candidate may acquire the key immediately.":                                  web(delay(0)),
		"for about 1m0s after the session ends (Consul enforces at most 1m0s).":           web(delay(90 * time.Second)),
		"The lock-delay is unknown, because the session was not read":                     unread,
		"A semaphore has no single holder: destroy the session of one of its holders":     semaphore,
		"A slot has no lock-delay, regardless of the session's lock-delay: a waiting con": holderExamples()[4],
	} {
		if got := strings.Join(EffectOf(election.ActionDestroy, e, nil, 1).sentences(), " "); !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if EffectOf(election.ActionRelease, semaphore, nil, 1).Refusal == "" {
		t.Error("a semaphore's release is not refused")
	}
}
