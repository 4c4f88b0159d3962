package keys

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Step converts a movement key to a number of rows. page is the number of visible rows, and all is the total number of
// rows. For other keys, Step returns false.
func (k Map) Step(msg tea.KeyPressMsg, page, all int) (int, bool) {
	switch {
	case key.Matches(msg, k.Down):
		return 1, true
	case key.Matches(msg, k.Up):
		return -1, true
	case key.Matches(msg, k.HalfDown):
		return max(1, page/2), true
	case key.Matches(msg, k.HalfUp):
		return -max(1, page/2), true
	case key.Matches(msg, k.PageDown):
		return page, true
	case key.Matches(msg, k.PageUp):
		return -page, true
	case key.Matches(msg, k.Top):
		return -all, true
	case key.Matches(msg, k.Bottom):
		return all, true
	}
	return 0, false
}

// Scroll returns the key that scrolls a text.
func (k Map) Scroll() key.Binding { return says(k.Down, "scroll") }
