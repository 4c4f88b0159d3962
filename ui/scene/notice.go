package scene

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
)

// Notice is over when the visible text has not changed for 300 ms. Without this delay before a confirmation, a key that
// was typed for an earlier text could confirm a new one.
type Notice struct {
	latest *Noticed
	over   bool
}

// Noticed is the message that a text was visible for long enough. It is not empty, because only then have two of them
// different addresses.
type Noticed struct{ _ byte }

// Restart begins the delay after a change to the visible text.
func (n *Notice) Restart() tea.Cmd {
	msg := &Noticed{}
	n.latest, n.over = msg, false
	return tea.Tick(300*time.Millisecond, func(time.Time) tea.Msg { return msg })
}

// Ended ends the delay if the text has not changed since msg was created.
func (n *Notice) Ended(msg *Noticed) { n.over = n.over || msg == n.latest }

// Over reports whether the user can confirm the text.
func (n *Notice) Over() bool { return n.over }

// Awaits returns the message that ends the delay, or nil if the delay is over.
func (n *Notice) Awaits() *Noticed {
	if n.over {
		return nil
	}
	return n.latest
}

// TooSoon is the message about a confirmation before the delay is over.
func TooSoon() Say {
	return Say{Role: kit.Delay, Text: "Nothing was done: the text appeared or changed only a moment ago. Read it, then confirm again."}
}
