package events

// Lines returns the number of lines in memory.
func (m Model) Lines() int { return len(m.lines) }
