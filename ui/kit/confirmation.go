package kit

import (
	"cmp"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Button is a key of a sheet.
type Button struct {
	// Key is the name of a key, as in keys.Press. Sign is its name in the footer if it is another one.
	Key, Sign string
	// Label is the text of a button. Hint says what the key does.
	Label, Hint string
	// Acts is set for a button that writes to Consul. It works only when the text has not changed for [Settled].
	Acts bool
	// Count is the number of elections on which the button acts. Above [Counted], the user types the number.
	Count int
	// Word is a text that the user types before the button acts. It is empty if y is enough.
	Word string
	// Ask is a question that the user must answer with y first.
	Ask string
	// Off disables the button.
	Off bool
	// Do returns an action for the program.
	Do func() any
}

// Settled is the time for which a text must be visible before a button acts. Otherwise, a key that was typed for an
// earlier text could confirm a new one.
const Settled = 300 * time.Millisecond

// Counted is the number of elections above which the user confirms an action by typing their number.
const Counted = 20

// SettledMsg redraws a sheet whose text has settled.
type SettledMsg struct{}

// ready reports whether a button works now.
func (s *Sheet) ready(b Button) bool { return b.Acts && !b.Off && s.settled }

// word returns the text that the user types, or "" if y is enough.
func (b *Button) word() string {
	if b.Word == "" && b.Count > Counted {
		return strconv.Itoa(b.Count)
	}
	return b.Word
}

func (s *Sheet) press(b *Button) any {
	switch {
	case b.Acts && !b.Off && !s.settled:
		return Say{Delay, "Nothing was done: the text appeared or changed only a moment ago. Read it, then confirm again."}
	case b.Acts && !b.Off && b.word() != "":
		s.asking, s.typed = b.Key, &Input{}
		return nil
	case b.Ask != "":
		s.asking = b.Key
		return nil
	case b.Do == nil:
		return Close{}
	}
	return b.Do()
}

// answer handles a key while a question is open.
func (s *Sheet) answer(msg tea.KeyPressMsg, name string) any {
	b := s.button(s.asking)
	switch {
	case name == "esc", b == nil, s.typed == nil && name != "y":
		s.asking, s.typed = "", nil
	case s.typed == nil, name == "enter" && s.typed.String() == b.word():
		s.asking, s.typed = "", nil
		return b.Do()
	case name == "enter":
		return Say{Delay, "Nothing was done: this is not " + cmp.Or(b.Word, "the number of elections") + "."}
	default:
		s.typed.Press(msg)
	}
	return nil
}

// Paste inserts a text into the answer to a question.
func (s *Sheet) Paste(text string) {
	if s.typed != nil {
		s.typed.Insert(text)
	}
}
