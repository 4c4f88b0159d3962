package sqlite_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history/sqlite"
)

// scenario makes two observers read the same keys.
type scenario func(a, b *observer)

// both makes two observers read the same state. The second observer reads 2 ms later.
func both(a, b *observer, d time.Duration, pairs ...election.Pair) {
	a.after(d).read(pairs...)
	b.after(d).read(pairs...)
}

// TestTwoWritersStoreEachEventOnce stores the events of two observers, in both orders and interleaved. The events of
// the second observer must add nothing.
func TestTwoWritersStoreEachEventOnce(t *testing.T) {
	free := func(create, lock, modify uint64) election.Pair { return pair("", create, lock, modify) }
	value := func(p election.Pair, text string) election.Pair {
		p.Value = []byte(text)
		return p
	}
	scenarios := map[string]scenario{
		"values written within a term": func(a, b *observer) {
			both(a, b, 0, pair("s1", 10, 1, 20))
			both(a, b, time.Minute, value(pair("s1", 10, 1, 21), "x"))
			both(a, b, time.Minute, value(pair("s1", 10, 1, 22), "y"))
			both(a, b, time.Minute, value(pair("s1", 10, 1, 23), "x"))
		},
		"terms of one session": func(a, b *observer) {
			both(a, b, 0, free(10, 1, 20))
			for i := range uint64(5) {
				both(a, b, time.Minute, pair("s1", 10, 2+i, 30+10*i))
				both(a, b, time.Minute, free(10, 2+i, 35+10*i))
			}
		},
		"deleted and created again": func(a, b *observer) {
			both(a, b, 0, pair("s1", 10, 1, 10))
			for i := range uint64(4) {
				both(a, b, time.Minute)
				both(a, b, time.Minute, pair("s1", 20+10*i, 1, 20+10*i))
			}
		},
		"restored twice": func(a, b *observer) {
			both(a, b, 0, pair("s1", 10, 1, 10))
			for range 2 {
				both(a, b, time.Hour, free(10, 1, 15))
				both(a, b, time.Hour, pair("s2", 10, 2, 20))
				both(a, b, time.Hour, pair("s1", 10, 1, 10)) // a snapshot was restored
			}
		},
		"written without the lock": func(a, b *observer) {
			both(a, b, 0, free(10, 0, 10))
			for i := range uint64(3) {
				both(a, b, time.Minute, pair("s1", 10, 1, 20+10*i))
				both(a, b, time.Minute, value(pair("s1", 10, 0, 21+10*i), "x"))
				both(a, b, time.Minute, value(free(10, 0, 22+10*i), "x"))
			}
		},
		"slots of a semaphore": func(a, b *observer) {
			slots := func(modify uint64, holders string) election.Pair {
				p := free(10, 0, modify)
				p.Flags, p.Value = election.SemaphoreFlag, []byte(`{"Limit":2,"Holders":{`+holders+`}}`)
				return p
			}
			both(a, b, 0, slots(10, `"s1":true`))
			for i := range uint64(3) {
				both(a, b, time.Minute, slots(20+10*i, `"s1":true,"s2":true`))
				both(a, b, time.Minute, slots(25+10*i, `"s1":true`))
			}
		},
	}
	for name, tell := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newObserver(t, start()), newObserver(t, start().Add(2*time.Millisecond))
			tell(a, b)
			a.after(time.Minute)
			b.after(time.Minute)
			alone := newPath(t)
			record(t, alone, a.events)
			want := stored(t, alone)
			if len(want) != len(a.events) {
				t.Fatalf("one observer reported %d events, but %d are stored:\n%s", len(a.events), len(want), list(want))
			}
			for order, batches := range map[string][][]election.Event{
				"a, b":        {a.events, b.events},
				"b, a":        {b.events, a.events},
				"interleaved": interleaved(a.events, b.events),
			} {
				path := newPath(t)
				one, two := startWriter(t, path, sqlite.WriterOptions{}), startWriter(t, path, sqlite.WriterOptions{})
				for i, events := range batches {
					[]*writer{one, two}[i%2].store(events)
				}
				one.stop()
				two.stop()
				if got := stored(t, path); len(got) != len(want) {
					t.Errorf("%s: %d events, want %d:\n%s\nwant\n%s", order, len(got), len(want), list(got), list(want))
				}
				if got, want := len(termsIn(t, path)), len(termsIn(t, alone)); got != want {
					t.Errorf("%s: %d terms, want %d", order, got, want)
				}
			}
		})
	}
}

// interleaved returns batches that alternate between the events of the two observers.
func interleaved(a, b []election.Event) (batches [][]election.Event) {
	others := slices.Collect(slices.Chunk(b, 4))
	for part := range slices.Chunk(a, 4) {
		batches = append(batches, part, others[0])
		others = others[1:]
	}
	return batches
}

func list(events []election.Event) (text string) {
	for _, e := range events {
		text += fmt.Sprintf("%s %s term %d create %d modify %d %s\n", e.Time.Format(time.TimeOnly), e.Type, e.Term, e.CreateIndex, e.ModifyIndex, e.Session)
	}
	return text
}

func TestAnObserverWithFewerReadsAddsNothing(t *testing.T) {
	a, b := newObserver(t, start()), newObserver(t, start())
	first := pair("s1", 10, 1, 10)
	both(a, b, 0, first)
	x, y := pair("s1", 10, 1, 11), pair("s1", 10, 1, 12)
	x.Value, y.Value = []byte("x"), []byte("y")
	a.after(time.Second).read(x)
	both(a, b, time.Second, y)
	a.after(time.Second).read(pair("", 10, 1, 13))
	both(a, b, time.Second, pair("s2", 10, 2, 14)) // only observer a reads the vacancy
	z := pair("s2", 10, 2, 15)
	z.Value = []byte("z")
	both(a, b, time.Second, z)
	both(a, b, 2*time.Second)
	a.after(time.Minute)
	b.after(time.Minute)
	path := newPath(t)
	record(t, path, a.events)
	record(t, path, b.events)
	if got := stored(t, path); len(got) != len(a.events) {
		t.Errorf("%d events, want %d:\n%s\nwant\n%s", len(got), len(a.events), list(got), list(a.events))
	}
}

// A second observer starts after the first one has ended. Only its new information must be stored.
func TestInitialEventsAreStoredOnlyIfTheyAreNew(t *testing.T) {
	led, free := pair("s1", 10, 5, 50), pair("", 10, 5, 55)
	for name, tt := range map[string]struct {
		before, found []election.Pair
		news          []election.EventType
		terms         int
		missed        uint64
	}{
		"the same term":                        {[]election.Pair{led}, []election.Pair{led}, nil, 1, 0},
		"still vacant":                         {[]election.Pair{free}, []election.Pair{free}, nil, 0, 0},
		"released in the gap":                  {[]election.Pair{led}, []election.Pair{free}, []election.EventType{election.Vacated}, 1, 0},
		"the next term":                        {[]election.Pair{led}, []election.Pair{pair("s2", 10, 6, 60)}, []election.EventType{election.Elected}, 2, 0},
		"several terms in the gap, now led":    {[]election.Pair{led}, []election.Pair{pair("s2", 10, 9, 90)}, []election.EventType{election.Missed, election.Elected}, 2, 3},
		"several terms in the gap, now vacant": {[]election.Pair{led}, []election.Pair{pair("", 10, 9, 95)}, []election.EventType{election.Missed, election.Vacated}, 1, 4},
		"created again":                        {[]election.Pair{led}, []election.Pair{pair("s2", 80, 3, 90)}, []election.EventType{election.Missed, election.Elected}, 2, 2},
		"the term without lock":                {[]election.Pair{led}, []election.Pair{pair("s1", 10, 0, 60)}, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, path := newObserver(t, start()), newObserver(t, start().Add(time.Hour)), newPath(t)
			a.read(tt.before...)
			record(t, path, a.events)
			b.read(tt.found...)
			record(t, path, b.events)
			var news []election.EventType
			var missed uint64
			for _, e := range stored(t, path)[len(a.events):] {
				news = append(news, e.Type)
				missed += e.Count
			}
			terms := termsIn(t, path)
			if !slices.Equal(news, tt.news) || len(terms) != tt.terms || missed != tt.missed {
				t.Errorf("stored %v, %d terms, %d missed; want %v, %d, %d", news, len(terms), missed, tt.news, tt.terms, tt.missed)
			}
			if len(terms) > 1 && (terms[0].StartKnown || terms[1].SeenUntil.IsZero() || terms[1].HeldKnown()) {
				t.Errorf("the time of an unobserved change is stored as known: %+v", terms)
			}
		})
	}
}

func TestAStateRestoredWithoutAnObserverIsStored(t *testing.T) {
	a, path := newObserver(t, start()), newPath(t)
	a.read(pair("s1", 10, 5, 50))
	a.after(time.Minute).read(pair("", 10, 5, 55))
	a.after(time.Minute)
	record(t, path, a.events)
	b := newObserver(t, start().Add(time.Hour))
	b.read(pair("s1", 10, 5, 50))
	b.after(time.Minute).read(pair("", 10, 5, 58))
	b.after(time.Minute)
	record(t, path, b.events)
	if got, want := stored(t, path), slices.Concat(a.events, b.events); len(got) != len(want) {
		t.Errorf("got\n%s\nwant\n%s", list(got), list(want))
	}
}

// An observer reads a key just before a release, but stores the result after the release was stored.
func TestAnObserverThatBeginsAtTheEndOfATermAddsNothing(t *testing.T) {
	a, b := newObserver(t, start()), newObserver(t, start())
	led, free := pair("s1", 10, 5, 50), pair("", 10, 5, 55)
	a.read(led)
	a.after(time.Minute).read(free)
	b.after(time.Minute + 5*time.Millisecond).read(led)
	b.after(time.Millisecond).read(free)
	a.after(time.Minute)
	b.after(time.Minute)
	alone, path := newPath(t), newPath(t)
	record(t, alone, a.events)
	record(t, path, a.events)
	record(t, path, b.events)
	if got, want := stored(t, path), stored(t, alone); len(got) != len(want) || len(termsIn(t, path)) != len(termsIn(t, alone)) {
		t.Errorf("%d terms:\n%s\nwant %d:\n%s", len(termsIn(t, path)), list(got), len(termsIn(t, alone)), list(want))
	}
}

// An observer starts while the latest terms are still in the queue of another observer.
func TestATermThatIsStoredLateIsNotMissed(t *testing.T) {
	for name, tt := range map[string]struct {
		found []election.Pair // the state that the second observer reads
		want  uint64          // terms that no observer observed
	}{
		"all are stored later":  {[]election.Pair{pair("s3", 10, 8, 80)}, 0},
		"some are stored later": {[]election.Pair{pair("s3", 10, 10, 100)}, 1},
		"vacant":                {[]election.Pair{pair("", 10, 8, 85)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, path := newObserver(t, start()), newObserver(t, start().Add(time.Minute)), newPath(t)
			a.read(pair("s1", 10, 5, 50))
			first := len(a.events)
			for i := range uint64(3) {
				a.after(time.Second).read(pair("", 10, 5+i, 55+10*i))
				a.after(time.Second).read(pair("s3", 10, 6+i, 60+10*i))
			}
			b.read(tt.found...)
			record(t, path, a.events[:first])
			record(t, path, b.events)
			record(t, path, a.events[first:])
			var missed uint64
			for _, e := range stored(t, path) {
				missed += e.Count
			}
			if missed != tt.want {
				t.Errorf("%d missed, want %d:\n%s", missed, tt.want, list(stored(t, path)))
			}
		})
	}
}

// The second observer observes fewer terms than the first one.
func TestATermThatAnotherObserverSawIsNotMissed(t *testing.T) {
	for name, tt := range map[string]struct {
		last election.Pair // the state that the second observer reads after term 5
		want uint64        // terms that no observer observed
	}{
		"held":                   {pair("s3", 10, 8, 80), 0},
		"held, much later":       {pair("s3", 10, 11, 110), 2},
		"vacant":                 {pair("", 10, 8, 85), 0},
		"vacant, much later":     {pair("", 10, 11, 115), 3},
		"one term, held":         {pair("s3", 10, 7, 70), 0},
		"one term, vacant":       {pair("", 10, 6, 65), 0},
		"nothing missed":         {pair("s3", 10, 6, 60), 0},
		"nothing missed, vacant": {pair("", 10, 5, 55), 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, path := newObserver(t, start()), newObserver(t, start()), newPath(t)
			both(a, b, 0, pair("s1", 10, 5, 50))
			for i := range uint64(3) {
				a.after(time.Second).read(pair("", 10, 5+i, 55+10*i))
				a.after(time.Second).read(pair("s3", 10, 6+i, 60+10*i))
			}
			a.after(time.Second).read(pair("", 10, 8, 85))
			b.after(time.Minute).read(tt.last)
			record(t, path, a.events)
			record(t, path, b.events)
			var missed uint64
			for _, e := range stored(t, path) {
				missed += e.Count
			}
			if missed != tt.want {
				t.Errorf("%d missed, want %d:\n%s", missed, tt.want, list(stored(t, path)))
			}
		})
	}
}

// Term numbers repeat after an overwrite, even if there is only one observer.
func TestMissedTermsCountFromTheLatestReset(t *testing.T) {
	a, path := newObserver(t, start()), newPath(t)
	for i := range uint64(5) {
		a.after(time.Second).read(pair("s1", 10, 1+i, 20+10*i))
		a.after(time.Second).read(pair("", 10, 1+i, 25+10*i))
	}
	written := pair("", 10, 0, 75)
	written.Value = []byte("x")
	a.after(time.Second).read(written)
	a.after(time.Second).read(pair("s1", 10, 1, 80))
	a.after(time.Second).read(pair("s1", 10, 4, 90))
	record(t, path, a.events)
	var missed uint64
	for _, e := range stored(t, path) {
		missed += e.Count
	}
	if missed != 2 {
		t.Errorf("%d missed, want 2:\n%s", missed, list(stored(t, path)))
	}
}

// One observer runs after another. The stored events of both contain more terms and vacancies than those of each.
func TestAnotherObserverCompletesTermsAndVacancies(t *testing.T) {
	path := newPath(t)
	began := time.Now().Add(time.Hour).UTC() // heartbeats use the real time, so the test's times are later
	first := newObserver(t, began)
	first.session("s1", "node-1")
	first.read(pair("", 10, 0, 11))
	first.after(time.Minute).read(pair("s1", 10, 1, 20))
	record(t, path, first.events)
	second := newObserver(t, began.Add(time.Hour))
	second.session("s1", "node-1")
	second.read(pair("s1", 10, 1, 20))
	second.after(time.Minute).read(pair("", 10, 1, 30))
	second.after(time.Minute)
	record(t, path, second.events)
	third := newObserver(t, began.Add(2*time.Hour))
	third.read(pair("", 10, 1, 30))
	third.after(time.Minute).read(pair("s1", 10, 2, 40))
	record(t, path, third.events)
	for _, e := range stored(t, path) {
		switch {
		case e.Type == election.Vacated && e.Term == 1 && (!e.HeldKnown || e.Held != time.Hour):
			t.Errorf("term held for %v, known: %v, although another observer saw its beginning", e.Held, e.HeldKnown)
		case e.Type == election.Elected && e.Term == 2 && (!e.VacancyKnown || e.Vacancy != time.Hour):
			t.Errorf("vacancy of %v, known: %v, although another observer saw its beginning", e.Vacancy, e.VacancyKnown)
		}
	}
	if terms := termsIn(t, path); len(terms) != 2 || terms[1].Vacancy != time.Hour || !terms[1].VacancyKnown {
		t.Errorf("%+v", terms)
	}
}

// Terms in several gaps must be counted once, even if the key was created in a gap.
func TestMissedTermsAreCountedOnce(t *testing.T) {
	began := time.Now().Add(time.Hour).UTC()
	for name, tt := range map[string]struct {
		found []election.Pair // the states that several observers read one after another
		want  uint64
	}{
		"none":                                {[]election.Pair{pair("s1", 10, 1, 20), pair("s1", 10, 1, 20)}, 0},
		"before the first observation":        {[]election.Pair{pair("s1", 10, 5, 20), pair("", 10, 5, 30)}, 0},
		"between two leaders":                 {[]election.Pair{pair("s1", 10, 1, 20), pair("s1", 10, 4, 40)}, 2},
		"in three gaps":                       {[]election.Pair{pair("", 10, 1, 20), pair("", 10, 2, 30), pair("", 10, 4, 50), pair("s1", 10, 6, 70)}, 4},
		"of a key without a term before":      {[]election.Pair{pair("", 10, 0, 10), pair("", 10, 3, 30)}, 3},
		"of a key created since, now vacant":  {[]election.Pair{pair("s1", 10, 1, 20), pair("", 50, 3, 60)}, 3},
		"of a key created since, now held":    {[]election.Pair{pair("s1", 10, 1, 20), pair("s1", 50, 3, 60)}, 2},
		"of a key that was hidden until then": {[]election.Pair{pair("s1", 10, 1, 20), pair("s1", 5, 3, 60)}, 0},
	} {
		path, got := newPath(t), uint64(0)
		for i, p := range tt.found {
			o := newObserver(t, began.Add(time.Duration(i)*time.Hour))
			o.read(p)
			record(t, path, o.events)
		}
		for _, e := range stored(t, path) {
			got += e.Count
		}
		if got != tt.want {
			t.Errorf("%s: %d terms, want %d: %+v", name, got, tt.want, stored(t, path))
		}
	}
}
