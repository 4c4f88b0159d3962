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
func holderExamples() (all []*election.Election) {
	for _, text := range []string{
		`service/web/leader {"Node":"node-1"} | a, web, node-1`,
		"service/web/leader 12:00:00 refreshed:a | a, web, node-1, 15s",
		"service/web/leader web-1 lock | a, Consul API Lock, node-1, 15s",
		"backup/.lock - lock | a, Consul lock for './backup' at 'backup', node-1, 15s",
		"gpu/a - semaphore | a, Consul API Semaphore, node-1, 15s, delete",
		"service/web/leader node-1 lock | a, electop campaign, node-1, 15s",
		"vault/core/lock uuid lock | a, Vault Lock, node-1, 15s",
		"service/db/leader pg1 | a, db-pg1, node-1, patroni",
		"service/db/members/pg1 MEMBER | a, db-pg1, node-1, patroni",
		"election/web web-1 queue", "lock/web - queue", "/locks/web - leased", "/jobs/web web-1 folder", "/service/db/leader pg1 leased",
	} {
		all = append(all, heldOf(text))
	}
	return all
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
		HolderElection:      "Clients of etcd", HolderMutex: "Clients of etcd", HolderLease: "Clients of etcd", HolderPatroniLease: "Clients of etcd", HolderFolder: "Clients of etcd",
	}
}

func TestActionsDocument(t *testing.T) {
	const path = "../../docs/actions.md"
	text, err := os.ReadFile(path)
	must(t, err)
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
	if len(seen) != 14 {
		t.Errorf("%d kinds have an example, want 14", len(seen))
	}
	const begin, end = "<!-- kinds of holders -->\n", "<!-- end of kinds of holders -->\n"
	before, rest, _ := strings.Cut(doc, begin)
	got, after, _ := strings.Cut(rest, end)
	switch want := "\n" + kinds.String(); {
	case got == want:
	case *update:
		doc = before + begin + want + end + after
		must(t, os.WriteFile(path, []byte(doc), 0o600))
	default:
		t.Errorf("%s differs from the effects; run go test ./election/insight -run TestActionsDocument -update", path)
	}
	for _, e := range holderExamples() {
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
	name := textsOf[kind].software
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

func TestEffectWarns(t *testing.T) {
	const (
		alone   = "No other candidate was seen: the election may stay without a leader."
		child   = "consul lock signals its child process only"
		deletes = "The session's behavior is delete, but a release keeps the key"
		two     = "two writable primaries"
		release = election.ActionRelease
		destroy = election.ActionDestroy
		recipe  = `service/web/leader {"Node":"node-1"} | a, web, node-1`
		db      = "service/db/leader pg1 | a, db-pg1, node-1, patroni"
		deletee = "service/web/leader web-1 | a, web, n1, patroni"
		again   = "After the last release, the same session led again."
	)
	for _, tt := range []struct {
		name       string
		action     election.ActionKind
		e          string
		candidates int
		want       string
	}{
		{"candidates", release, recipe, 2, ""},
		{"unknown candidates", release, recipe, -1, ""},
		{"returned", release, recipe, 2, again},
		{"no candidate, release", release, recipe, 0, alone},
		{"no candidate, destroy", destroy, recipe, 0, alone},
		{"no waiter for a slot", destroy, "gpu/a - semaphore | a, Consul API Semaphore, node-1, 15s, delete", 0, ""},
		{"consul lock, no candidate", release, "backup/.lock - lock | a, Consul lock for './backup' at 'backup', node-1, 15s", 0, child + " " + alone},
		{"Patroni, destroy", destroy, db, 1, two},
		{"Patroni, release is refused", release, db, 0, ""},
		{"behavior delete, release", release, deletee, 1, deletes},
		{"behavior delete, destroy", destroy, deletee, 1, ""},
		{"nothing read, release", release, "service/web/leader web-1", 1, ""},
		{"nothing read, destroy", destroy, "service/web/leader web-1", 1, ""},
	} {
		e := heldOf(tt.e)
		if tt.want == again {
			e.Terms = []election.Term{{Session: e.Pair.Session, Cause: election.OperatorRelease}, {}}
		}
		got := strings.Join(EffectOf(tt.action, e, nil, tt.candidates).Warnings, " ")
		first, last, _ := strings.Cut(tt.want, " No other")
		if !strings.Contains(got, first) || !strings.HasSuffix(got, last) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEffectOfASession(t *testing.T) {
	const (
		plain, pg1 = "a, web, n1", "a, db-pg1, n1, patroni"
		contends   = "a, Consul API Semaphore, n1, delete"
		web, lock  = "service/web/leader web-1", "k - lock"
		slot       = "gpu/a - semaphore"
		delay      = "Lock-delay 15s: no candidate can acquire a key that it held for about 15s after the session ends."
		short      = "Lock-delay 1ms: no candidate can acquire a key that it held for about 1ms after the session ends."
		free       = " The slot of a semaphore is free immediately."
		more       = "The session may hold more keys than are listed."
		unread     = "The lock-delay is unknown, because the session was not read (Consul's default is 15s)."
	)
	primary := textsOf[HolderPatroni].destroy.warning
	for _, tt := range []struct {
		name, session, held string
		complete            bool
		kind                HolderKind
		delay, warnings     string
	}{
		{"one lock", plain, web, true, HolderUnknown, delay, ""},
		{"one lock, not searched", plain, web, false, HolderUnknown, delay, more},
		{"nothing", plain, "", true, HolderUnknown, "No lock-delay follows, because the session holds no key.", ""},
		{"nothing known", plain, "", false, HolderUnknown, delay, more},
		{"a slot", contends, slot, true, HolderSemaphore, "A slot has no lock-delay, regardless of the session's lock-delay: a waiting contender takes the slot immediately.", ""},
		{"a slot, not searched", contends, slot, false, HolderSemaphore, delay + free, more},
		{"a slot and a lock", contends, slot + ";" + web, true, HolderUnknown, delay + free, ""},
		{"two locks of one kind", "a, Consul API Lock, n1", lock + ";" + lock, true, HolderAPILock, delay, ""},
		{"locks of several kinds", plain, lock + ";service/mail/leader web-1", true, HolderUnknown, delay, ""},
		{"recognised by its name", "a, electop campaign, n1", "", false, HolderCampaign, delay, more},
		{"not read", "", web, true, HolderUnknown, unread, ""},
		{"Patroni's primary", pg1, "service/db/members/pg1 MEMBER;service/db/leader pg1", true, HolderPatroni, short, primary},
		{"Patroni's primary, session not read", "", "service/db/leader pg1;service/db/members/pg1 MEMBER", false, HolderPatroni, unread, primary + " " + more},
		{"Patroni's replica", pg1, "service/db/members/pg1 MEMBER", true, HolderPatroniMember, short, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var session *election.Session
			if tt.session != "" {
				session = sessionOf(tt.session)
			}
			var held []election.Pair
			for _, item := range items(tt.held) {
				held = append(held, heldOf(item).Pair)
			}
			f := EffectOfSession(session, held, tt.complete)
			if f.Kind != tt.kind || f.Delay != tt.delay || strings.Join(f.Warnings, " ") != tt.warnings || f.Key == "" || f.Holder == "" {
				t.Errorf("%+v", f)
			}
			if (f.Better == "patronictl -c FILE switchover db") != (tt.kind == HolderPatroni) {
				t.Errorf("better: %q", f.Better)
			}
		})
	}
}

func TestEffectOfADestroy(t *testing.T) {
	const web = "service/web/leader web-1"
	semaphore := semaphore(`{"Limit":2,"Holders":{"a":true}}`)
	immediate, long := heldOf(web+" | a, web, n1"), heldOf(web+" | a, web, n1")
	immediate.Session.LockDelay, long.Session.LockDelay = 0, 90*time.Second
	for want, e := range map[string]*election.Election{
		"every lock that it holds is released; values and flags are kept.":                heldOf(web + " | a, web, n1"),
		"every key that it holds is deleted with its value (behavior delete).":            heldOf(web + " | a, web, n1, patroni"),
		"the session's behavior is unknown, because the session was not read.":            heldOf(web),
		"no candidate can acquire the key for about 15s after the session ends.":          heldOf(web + " | a, mail, n1"),
		"any candidate may acquire the key immediately.":                                  immediate,
		"for about 1m0s after the session ends (Consul enforces at most 1m0s).":           long,
		"The lock-delay is unknown, because the session was not read":                     heldOf(web),
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

// electop ends the lease of a Patroni primary only if Patroni does not renew it, and the user confirms that it is dead.
func TestAHealthyPrimaryIsKept(t *testing.T) {
	e := heldOf("/service/db/leader pg1 leased")
	e.Session = &election.Session{ID: e.Pair.Session, TTL: 30 * time.Second, Read: time.Unix(0, 0)}
	for remaining, refused := range map[time.Duration]bool{29 * time.Second: true, 16 * time.Second: true, 15 * time.Second: false} {
		e.Session.Expires = e.Session.Read.Add(remaining)
		if f := EffectOf(election.ActionDestroy, e, nil, -1); (f.Refusal != "") != refused || !f.Typed {
			t.Errorf("%s: %+v", remaining, f)
		}
		if f := EffectOf(election.ActionRelease, e, nil, -1); f.Refusal == "" {
			t.Error("a release is not refused")
		}
	}
	if e.Session = nil; EffectOf(election.ActionDestroy, e, nil, -1).Refusal == "" || e.Target().Behavior != election.BehaviorDelete {
		t.Error("a lease that was not read is not refused, or does not delete its keys")
	}
}
