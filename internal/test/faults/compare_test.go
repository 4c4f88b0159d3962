package faults

import (
	"fmt"
	"slices"

	"electop/election"
)

// verdict contains false events, and terms that are neither reported nor counted as missed.
type verdict struct{ wrong []string }

// compare checks every event of `electop watch` against the log of writes.
func (l *truth) compare(lines []line) *verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := &verdict{}
	byKey := map[string][]line{}
	for _, e := range lines {
		if e.Key != "" {
			byKey[e.Key] = append(byKey[e.Key], e)
		}
	}
	for key := range byKey {
		if l.keys[key] == nil {
			v.blame(byKey[key][0], "no writer has written this key")
		}
	}
	for key, k := range l.keys {
		c := comparison{verdict: v, k: k, at: -1, reported: map[uint64]int{}, missed: map[uint64]int{}}
		for _, e := range byKey[key] {
			c.event(e)
		}
		c.account(key)
	}
	slices.Sort(v.wrong)
	return v
}

func (v *verdict) blame(e line, format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf("%s %s %s term %d (%q): ", election.FormatTime(e.Time), e.Key, e.Type, e.Term, e.Leader)+fmt.Sprintf(format, args...))
}

// comparison compares the events of one key with the log.
type comparison struct {
	*verdict
	k  *keyTruth
	at int // index of the latest reported term in the log, -1 before the first
	// first is the term of the initial event, or the first term after it.
	first            int
	initial, led     bool
	deletes          int
	reported, missed map[uint64]int // by CreateIndex: the number of terms
}

func (c *comparison) event(e line) {
	switch e.Type {
	case election.Elected:
		c.elected(e)
	case election.Vacated:
		c.vacated(e)
	case election.Deleted:
		c.deleted(e)
	case election.Missed:
		c.missed[e.CreateIndex] += int(e.Count)
	case election.Updated:
		if !c.led {
			c.blame(e, "an updated event without a leader")
		}
	case election.Explained, election.Unreadable, election.Readable:
	default:
		c.blame(e, "no writer has made this change")
	}
}

func (c *comparison) elected(e line) {
	if c.led {
		c.blame(e, "the end of the previous term (%s) was not reported", c.k.terms[c.at].id)
	}
	i := slices.IndexFunc(c.k.terms[c.at+1:], func(t term) bool { return t.id == e.Leader })
	if i < 0 {
		c.blame(e, "the log contains no such term after the previously reported term")
		return
	}
	i += c.at + 1
	t := &c.k.terms[i]
	if t.session != e.Session || t.create != e.CreateIndex || t.lock != e.Term {
		c.blame(e, "the log contains session %s, create_index %d, term %d", t.session, t.create, t.lock)
	}
	if e.read.Before(t.asked) {
		c.blame(e, "the term was reported %v before the acquire was sent", t.asked.Sub(e.read))
	}
	c.led = true
	if e.Initial && !c.initial {
		c.first, c.at = i+1, i
		c.initial = true
		return
	}
	c.at = i
	if !t.restored {
		c.reported[t.create]++
	}
}

func (c *comparison) vacated(e line) {
	if e.Initial && !c.initial {
		// Terms up to and including this one began before the first read.
		c.initial = true
		for ; c.first < len(c.k.terms); c.first++ {
			t := &c.k.terms[c.first]
			if t.create > e.CreateIndex || t.create == e.CreateIndex && t.lock > e.Term {
				break
			}
		}
		return
	}
	if !c.led {
		c.blame(e, "the start of the term was not reported")
		return
	}
	t := &c.k.terms[c.at]
	c.led = false
	switch {
	case t.id != e.Leader || t.session != e.Session:
		c.blame(e, "the leader was %s, with session %s", t.id, t.session)
	case t.ending.IsZero():
		c.blame(e, "the term has not ended")
	case e.read.Before(t.ending):
		c.blame(e, "the end was reported %v before the write that ended the term", t.ending.Sub(e.read))
	}
}

func (c *comparison) deleted(e line) {
	c.deletes++
	if c.deletes > len(c.k.deletes) || e.read.Before(c.k.deletes[c.deletes-1]) {
		c.blame(e, "the key was not deleted")
	}
}

// account checks that each term was reported once or counted in missed events.
func (c *comparison) account(key string) {
	total := map[uint64]int{}
	for i := min(c.first, len(c.k.terms)); i < len(c.k.terms); i++ {
		if t := c.k.terms[i]; !t.restored {
			total[t.create]++
		}
	}
	for create, n := range c.reported {
		if total[create] < n {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: %d terms of create_index %d were reported, but the log contains %d", key, n, create, total[create]))
		}
	}
	for create, n := range c.missed {
		if total[create] < n+c.reported[create] {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: %d terms of create_index %d were reported and %d counted as missed, but the log contains %d",
				key, c.reported[create], create, n, total[create]))
		}
	}
	for create, n := range total {
		rest := n - c.reported[create] - c.missed[create]
		if rest <= 0 || c.k.uncountable[create] {
			continue
		}
		c.wrong = append(c.wrong, fmt.Sprintf("%s: %d terms of create_index %d were neither reported nor counted as missed (reported %d, missed %d)",
			key, rest, create, c.reported[create], c.missed[create]))
	}
	if c.led != c.k.held || c.led && c.k.terms[c.at].id != c.k.terms[len(c.k.terms)-1].id {
		c.wrong = append(c.wrong, fmt.Sprintf("%s: held at the end according to electop: %v, according to the log: %v", key, c.led, c.k.held))
	}
}
