package cli

import "testing"

func TestWatchSelectsTypesAndOmitsTheInitialState(t *testing.T) {
	w := onMemory(t)
	key := prefix(t) + "/web/leader"
	s := w.session(nil)
	w.acquire(key, s, "a")
	events := w.follow("watch", "-o", "json", "--type", "vacated,elected", "--no-initial", "-k", prefix(t)+"/*/leader")
	change := func() { w.unlock(key, s); w.acquire(key, s, "a") }
	// One response may contain several changes, so there may be fewer events than changes.
	eventually(t, "five events", func() bool { change(); return len(events.ch) >= 5 })
	before := ""
	for seen := 0; seen < 2; {
		e := events.event()
		kind := e["type"].(string)
		if e["initial"] != nil || kind == before || kind != "vacated" && kind != "elected" {
			t.Fatalf("after %q: %v", before, e)
		}
		_, held := e["held_ms"].(float64)
		if _, vacant := e["vacancy_ms"].(float64); before != "" && (held != (kind == "vacated") || vacant != (kind == "elected")) {
			t.Errorf("%v", e)
		}
		if before = kind; kind == "elected" {
			seen++
		}
	}
}

func TestWatchTypesAreChecked(t *testing.T) {
	w := onMemory(t)
	has(t, w.run("watch", "--type", "election").must(t, exitUsage).errOut, `--type "election": must be one of elected, vacated`)
	has(t, w.run("watch", "--type", "").must(t, exitUsage).errOut, "--type is empty")
}
