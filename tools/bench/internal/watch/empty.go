package watch

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// EmptyText is the text of the empty screen.
const EmptyText = "empty screen"

// empty is a Bubble Tea program that draws one line, and changes it at each key press.
type empty struct{ pressed bool }

func emptyScreen(ctx context.Context) error {
	_, err := tea.NewProgram(empty{}, tea.WithContext(ctx)).Run()
	return err
}

func (empty) Init() tea.Cmd { return nil }

func (e empty) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.KeyPressMsg); ok {
		e.pressed = !e.pressed
	}
	return e, nil
}

func (e empty) View() tea.View {
	text := EmptyText
	if e.pressed {
		text += " pressed"
	}
	v := tea.NewView(text)
	v.AltScreen = true
	return v
}
