package ui

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"
)

// fallbackFrames is how often Bubble Tea looks for something to draw, idle or
// not, where frames cannot do it better: as often as snapshots can come.
const fallbackFrames = 30

// frameGap is the least time between two frames: what comes closer together (a
// mouse wheel, pasted text) is drawn in one.
const frameGap = time.Second / 120

// frames has the terminal written when there is something to write, and only
// then. Bubble Tea itself looks at each tick of a ticker, and a process that is
// woken thirty times a second to find nothing costs more than everything else
// that an idle dashboard does.
//
// Bubble Tea has no public way to do that. Its renderer waits for the channel of
// a ticker that the program keeps, and takes one that is there already; so it is
// given one whose channel is ours. Whatever changes the screen is a message, so
// the filter of messages, which sees them all, asks for a frame after each.
//
// Everything here but send runs on the program's event loop.
type frames struct {
	program *tea.Program
	// ticks is where the renderer waits. One tick is kept while it is busy, so
	// that what came in the meantime is drawn too, however slow the terminal is.
	ticks chan time.Time
	last  time.Time
	asked bool
}

// frameMsg asks for a frame. It comes by way of the event loop so that it is
// behind the message that changed the screen: that one was rendered by then.
type frameMsg struct{}

func newFrames() *frames { return &frames{ticks: make(chan time.Time, 1)} }

// filter is a [tea.WithFilter].
func (f *frames) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case frameMsg:
		f.asked, f.last = false, time.Now()
		select {
		case f.ticks <- f.last:
		default:
		}
		return nil
	case tea.BatchMsg: // commands that are still to be run
		return msg
	}
	if !f.asked && f.program != nil {
		f.asked = true
		f.ask(frameGap - time.Since(f.last))
	}
	return msg
}

func (f *frames) ask(wait time.Duration) {
	if wait > 0 {
		time.AfterFunc(wait, f.send)
		return
	}
	go f.send()
}

// send ends with the program at the latest.
func (f *frames) send() { f.program.Send(frameMsg{}) }

// drive takes the place of the program's ticker and reports that it did. It must
// be called before the program runs. Where Bubble Tea has changed it does
// nothing, and the program draws at its own ticks.
func (f *frames) drive(p *tea.Program) bool {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() || !field.IsNil() {
		return false
	}
	// A ticker whose own channel nobody waits for wakes nobody.
	ticker := time.NewTicker(time.Second)
	ticker.C = f.ticks
	*(**time.Ticker)(field.Addr().UnsafePointer()) = ticker
	f.program = p
	return true
}
