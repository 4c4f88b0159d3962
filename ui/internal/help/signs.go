package help

import (
	"charm.land/bubbles/v2/key"

	"electop/ui/internal/term"
)

// labelWidth is the width of the labels of the paragraphs, in cells.
const labelWidth = 10

// sign is one paragraph about symbols, with its label.
type sign struct {
	label string
	text  []term.Span
}

func say(label string, text ...term.Span) sign { return sign{label, text} }

// signs explains the symbols of each page.
func (m *Model) signs(sym *term.Symbols) [][]sign {
	k := func(b key.Binding) term.Span { return term.Span{term.Key, b.Help().Key} }
	past := say("Past", k(m.keys.Earlier), term.Span{term.Text, " and "}, k(m.keys.Later),
		term.Span{term.Text, " step through events   :at 03:12   :at -2h   :at 2026-11-20T03:12   "}, k(m.keys.Back), term.Span{term.Text, " returns to now"})
	denied := say("Keys", term.Span{term.Faint, "(" + m.keys.Release.Help().Key + ") release"},
		term.Span{term.Text, " in parentheses: this token lacks the permission; press the key to see the missing rule"})
	return [][]sign{
		append(electionSigns(sym), past, denied),
		{past},
		{
			say("Symbols", term.Span{term.Led, sym.Led}, term.Span{term.Text, " holds a known key   "},
				term.Span{term.Quiet, sym.Idle}, term.Span{term.Text, " holds no known key; may be a waiter   "},
				term.Span{term.Delay, sym.Warning}, term.Span{term.Text, " possible orphan: idle, no TTL, one of several similar sessions"}),
			denied,
		},
		{denied},
	}
}

// electionSigns explains the symbols in the table of elections.
func electionSigns(sym *term.Symbols) []sign {
	return []sign{
		say("States", term.Span{term.Led, sym.Led}, term.Span{term.Text, " led   "},
			term.Span{term.Delay, sym.Delay}, term.Span{term.Text, " lock-delay: acquires fail   "},
			term.Span{term.Vacant, sym.Vacant}, term.Span{term.Text, " vacant   "},
			term.Span{term.Quiet, sym.Idle}, term.Span{term.Text, " idle: a finished job   "},
			term.Span{term.TermB, sym.Semaphore}, term.Span{term.Text, " semaphore   "},
			term.Span{term.Quiet, sym.Unreadable}, term.Span{term.Text, " unreadable"}),
		say("Checks", term.Span{term.Text, "of the leader's session: "},
			term.Span{term.Led, sym.Passing}, term.Span{term.Text, " passing   "},
			term.Span{term.Delay, sym.Warning}, term.Span{term.Text, " warning   "},
			term.Span{term.Bad, sym.Critical}, term.Span{term.Text, " critical   "},
			term.Span{term.Quiet, sym.Unknown}, term.Span{term.Text, " unknown. "},
			term.Span{term.Delay, sym.Warning}, term.Span{term.Text, " or "},
			term.Span{term.Bad, sym.Critical}, term.Span{term.Text, " after a name: leader at risk or failed. "},
			term.Span{term.Quiet, "12m ago"}, term.Span{term.Text, " age of outdated checks: electop watches up to 16 nodes, those of visible leaders first"}),
		say("Lane", term.Span{term.TermA, sym.LaneLed}, term.Span{term.Text, " led   "},
			term.Span{term.Vacant, sym.LaneLost}, term.Span{term.Text, " lost   "},
			term.Span{term.Vacant, sym.LaneGap}, term.Span{term.Text, " no leader   "},
			term.Span{term.Vacant, sym.LaneWon}, term.Span{term.Text, " elected   "},
			term.Span{term.Vacant, sym.LaneChange}, term.Span{term.Text, " another leader   "},
			term.Span{term.Faint, sym.LaneUnseen}, term.Span{term.Text, " not observed"}),
		say("Rows", term.Span{term.Accent, sym.Mark}, term.Span{term.Text, " marked   "},
			term.Span{term.Accent, sym.MarkedCursor}, term.Span{term.Text, " marked and selected   " + sym.AtLeast + " at least: start unknown   " + sym.Tilde +
				" estimate   ! written without the lock   (node) of the last leader   "},
			term.Span{term.Delay, sym.Urgent}, term.Span{term.Text, " urgent advice"}),
	}
}
