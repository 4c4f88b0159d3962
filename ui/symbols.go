package ui

// symbols are the characters that carry meaning or draw lines. Those of lanes,
// borders and states are a single cell wide.
type symbols struct {
	led, delay, vacant, unreadable, semaphore  string
	passing, warning, critical, unknown, dash  string
	laneLed, laneLost, laneGap, laneWon        string
	laneChange, laneUnseen                     string
	rule, bar, topLeft, topRight, bottomLeft   string
	bottomRight, cursor, mark, up, down        string
	ellipsis, dot, live, connecting, lost      string
	paused, atLeast, tilde, times, arrow, more string
	keyMove, keyEnter, note, urgent, idle      string
}

// unicodeSymbols are for terminals with a common font.
func unicodeSymbols() *symbols {
	return &symbols{
		led: "●", delay: "◐", vacant: "○", unreadable: "?", semaphore: "◎",
		passing: "✓", warning: "!", critical: "✗", unknown: "?", dash: "—",
		laneLed: "━", laneLost: "╾", laneGap: "─", laneWon: "╼", laneChange: "┿", laneUnseen: "·",
		rule: "─", bar: "│", topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯",
		cursor: "▌", mark: "▎", up: "▲", down: "▼", ellipsis: "…", dot: "·",
		live: "●", connecting: "◌", lost: "✗", paused: "‖", atLeast: "≥", tilde: "~", times: "×", arrow: "→",
		more: "↓", keyMove: "↑↓", keyEnter: "⏎", note: "▸", urgent: "⚑", idle: "·",
	}
}

// asciiSymbols are for all others.
func asciiSymbols() *symbols {
	return &symbols{
		led: "*", delay: "~", vacant: "o", unreadable: "?", semaphore: "%",
		passing: "ok", warning: "!", critical: "x", unknown: "?", dash: "-",
		laneLed: "=", laneLost: ">", laneGap: "-", laneWon: "<", laneChange: "|", laneUnseen: ".",
		rule: "-", bar: "|", topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+",
		cursor: ">", mark: "+", up: "^", down: "v", ellipsis: "~", dot: "-",
		live: "*", connecting: ".", lost: "x", paused: "=", atLeast: ">=", tilde: "~", times: "x", arrow: "->",
		more: "v", keyMove: "j/k", keyEnter: "enter", note: ">", urgent: "#", idle: "-",
	}
}
