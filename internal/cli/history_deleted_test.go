package cli

import (
	"strings"
	"testing"

	"electop/internal/consultest"
)

func TestKeysThatAreDeletedWhileNoObserverRunsAreRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		file, p := historyFile(t), prefix(t)
		args := func(more ...string) []string { return append(more, "-k", p+"/*/leader", "--history", file) }
		w.acquire(p+"/led/leader", w.session(nil), "a")
		w.acquire(p+"/stays/leader", w.session(nil), "b")
		free := w.session(nil)
		w.acquire(p+"/vacant/leader", free, "c")
		w.unlock(p+"/vacant/leader", free)
		events := w.follow(args("watch")...)
		for range 3 {
			events.next()
		}
		events.stop()
		for _, name := range []string{"led", "vacant"} {
			if _, err := w.client.KV().Delete(p+"/"+name+"/leader", nil); err != nil {
				t.Fatal(err)
			}
		}
		recording := w.follow(args("record")...)
		deleted := func() string { return w.run(args("history", "--type", "deleted")...).out }
		eventually(t, "two deleted keys", func() bool { return strings.Count(deleted(), "the key was deleted") == 2 })
		recording.stop()
		r := w.run(args("history", "--terms", "led", "-o", "json")...).must(t, exitOK)
		has(t, r.out, `"seen_until":"`, `"to":"`, `"held_known":false`)
		if r = w.run(args("history", "--terms", "stays", "-o", "json")...).must(t, exitOK); strings.Contains(r.out, `"to":"`) {
			t.Errorf("the term ended although the key exists:\n%s", r.out)
		}
	})
}

func TestKeysThatAreUnreadableAreNotRecordedAsDeleted(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	file := historyFile(t)
	for _, name := range []string{"hidden", "shown", "shown-too"} {
		w.acquire("service/"+name+"/leader", w.session(nil), "a")
	}
	events := w.follow("watch", "--token", agent.Token(), "--history", file)
	for range 3 {
		events.next()
	}
	events.stop()
	if _, err := w.client.KV().Delete("service/shown/leader", nil); err != nil {
		t.Fatal(err)
	}
	some := token(t, w.client, "some", `key_prefix "service/shown" { policy = "read" } session_prefix "" { policy = "read" }`)
	recording := w.follow("record", "--token", some, "--history", file)
	deleted := func() string { return w.run("history", "--type", "deleted", "--history", file).out }
	eventually(t, "the deleted key", func() bool { return strings.Contains(deleted(), " shown ") })
	recording.stop()
	if out := deleted(); strings.Contains(out, "hidden") || strings.Contains(out, "shown-too") {
		t.Error(out)
	}
}
