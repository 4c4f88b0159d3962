package help

import (
	"charm.land/bubbles/v2/key"

	"electop/ui/kit"
)

// labelWidth is the width of the labels of the paragraphs, in cells.
const labelWidth = 10

// sign is one paragraph about symbols, with its label.
type sign struct {
	label string
	text  []kit.Span
}

func say(label string, text ...kit.Span) sign { return sign{label, text} }

// signs explains the symbols of each page.
func (m *Model) signs(sym *kit.Symbols) [][]sign {
	k := func(b key.Binding) kit.Span { return kit.Span{kit.Key, b.Help().Key} }
	past := say("Past", k(m.keys.Earlier), kit.Span{kit.Text, " and "}, k(m.keys.Later),
		kit.Span{kit.Text, " step through events   :at 03:12   :at -2h   :at 2026-11-20T03:12   "}, k(m.keys.Back), kit.Span{kit.Text, " returns to now"})
	denied := say("Keys", kit.Span{kit.Faint, "(" + m.keys.Release.Help().Key + ") release"},
		kit.Span{kit.Text, " in parentheses: this token lacks the permission; press the key to see the missing rule"})
	return [][]sign{
		append(electionSigns(sym), past, denied),
		{past},
		{
			say("Symbols", kit.Span{kit.Led, sym.Led}, kit.Span{kit.Text, " holds a known key   "},
				kit.Span{kit.Quiet, sym.Idle}, kit.Span{kit.Text, " holds no known key; may be a waiter   "},
				kit.Span{kit.Delay, sym.Warning}, kit.Span{kit.Text, " possible orphan: idle, no TTL, one of several similar sessions"}),
			denied,
		},
		{denied},
	}
}

// electionSigns explains the symbols in the table of elections.
func electionSigns(sym *kit.Symbols) []sign {
	return []sign{
		say("States", kit.Span{kit.Led, sym.Led}, kit.Span{kit.Text, " led   "},
			kit.Span{kit.Delay, sym.Delay}, kit.Span{kit.Text, " lock-delay: acquires fail   "},
			kit.Span{kit.Vacant, sym.Vacant}, kit.Span{kit.Text, " vacant   "},
			kit.Span{kit.Quiet, sym.Idle}, kit.Span{kit.Text, " idle: a finished job   "},
			kit.Span{kit.Accent, sym.Semaphore}, kit.Span{kit.Text, " semaphore   "},
			kit.Span{kit.Quiet, sym.Unreadable}, kit.Span{kit.Text, " unreadable"}),
		say("Checks", kit.Span{kit.Text, "of the leader's session: "},
			kit.Span{kit.Led, sym.Passing}, kit.Span{kit.Text, " passing   "},
			kit.Span{kit.Delay, sym.Warning}, kit.Span{kit.Text, " warning   "},
			kit.Span{kit.Bad, sym.Critical}, kit.Span{kit.Text, " critical   "},
			kit.Span{kit.Quiet, sym.Unknown}, kit.Span{kit.Text, " unknown. "},
			kit.Span{kit.Delay, sym.Warning}, kit.Span{kit.Text, " or "},
			kit.Span{kit.Bad, sym.Critical}, kit.Span{kit.Text, " after a name: leader at risk or failed. "},
			kit.Span{kit.Quiet, "12m ago"}, kit.Span{kit.Text, " age of outdated checks: electop watches up to 16 nodes, those of visible leaders first"}),
		say("Lane", kit.Span{kit.Lane, sym.LaneLed}, kit.Span{kit.Text, " led   "},
			kit.Span{kit.Vacant, sym.LaneLost}, kit.Span{kit.Text, " lost   "},
			kit.Span{kit.Vacant, sym.LaneGap}, kit.Span{kit.Text, " no leader   "},
			kit.Span{kit.Vacant, sym.LaneWon}, kit.Span{kit.Text, " elected   "},
			kit.Span{kit.Vacant, sym.LaneChange}, kit.Span{kit.Text, " another leader   "},
			kit.Span{kit.Faint, sym.LaneUnseen}, kit.Span{kit.Text, " not observed"}),
		say("Rows", kit.Span{kit.Accent, sym.Mark}, kit.Span{kit.Text, " marked   "},
			kit.Span{kit.Accent, sym.MarkedCursor}, kit.Span{kit.Text, " marked and selected   " + sym.AtLeast + " at least: start unknown   " + sym.Tilde +
				" estimate   ! written without the lock   (node) of the last leader   "},
			kit.Span{kit.Delay, sym.Urgent}, kit.Span{kit.Text, " urgent advice"}),
	}
}
