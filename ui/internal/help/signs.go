package help

import "electop/ui/internal/term"

// labelWidth is the width of the labels of the signs, in cells.
const labelWidth = 10

// sign explains signs of a page.
type sign struct {
	label string
	text  []term.Span
}

func say(label string, text ...term.Span) sign { return sign{label, text} }

// signs explains the signs of each page.
func signs(sym *term.Symbols) [][]sign {
	past := say("Past", term.Span{term.Key, "["}, term.Span{term.Text, " and "}, term.Span{term.Key, "]"},
		term.Span{term.Text, " step through events   :at 03:12   :at -2h   :at 2026-11-20T03:12   "}, term.Span{term.Key, "esc"}, term.Span{term.Text, " returns to now"})
	denied := say("Keys", term.Span{term.Faint, "(r) release"}, term.Span{term.Text, " in brackets: denied for this token; press it for the missing rule"})
	filter := say("Filter", term.Span{term.Text, "words are ANDed: text   !text   state:vacant   state:semaphore   node:node-2   leader:web   session:4f5a"})
	return [][]sign{
		append(electionSigns(sym), past, denied, filter),
		{
			past,
			say("Filter", term.Span{term.Text, "words are ANDed: text   !text   type:elected   cause:released   node:node-2   election:web (the whole name); " +
				"it searches the history as well"}),
		},
		{
			say("Signs", term.Span{term.Led, sym.Led}, term.Span{term.Text, " holds a known key   "},
				term.Span{term.Quiet, sym.Idle}, term.Span{term.Text, " nothing watched, may be a waiter   "},
				term.Span{term.Delay, sym.Warning}, term.Span{term.Text, " possible orphan: idle, no TTL, several similar"}),
			denied,
			say("Filter", term.Span{term.Text, "words are ANDed: text   !text   state:orphan   node:node-2   session:4f5a   key:web"}),
		},
		{denied},
	}
}

// electionSigns explains the signs of the table of elections.
func electionSigns(sym *term.Symbols) []sign {
	return []sign{
		say("States", term.Span{term.Led, sym.Led}, term.Span{term.Text, " led   "},
			term.Span{term.Delay, sym.Delay}, term.Span{term.Text, " lock-delay: refuses new holders   "},
			term.Span{term.Vacant, sym.Vacant}, term.Span{term.Text, " vacant   "},
			term.Span{term.Quiet, sym.Idle}, term.Span{term.Text, " idle: a finished job   "},
			term.Span{term.TermB, sym.Semaphore}, term.Span{term.Text, " semaphore   "},
			term.Span{term.Quiet, sym.Unreadable}, term.Span{term.Text, " unreadable"}),
		say("Checks", term.Span{term.Led, sym.Passing}, term.Span{term.Text, " passing   "},
			term.Span{term.Delay, sym.Warning}, term.Span{term.Text, " warning   "},
			term.Span{term.Bad, sym.Critical}, term.Span{term.Text, " critical   "},
			term.Span{term.Quiet, sym.Unknown}, term.Span{term.Text, " unknown: the checks that keep the leader's session alive. "},
			term.Span{term.Delay, sym.Warning}, term.Span{term.Text, " or "},
			term.Span{term.Bad, sym.Critical}, term.Span{term.Text, " behind a name: at risk. "},
			term.Span{term.Quiet, "12m ago"}, term.Span{term.Text, " the age of checks that are no longer watched; those of visible leaders are"}),
		say("Lane", term.Span{term.TermA, sym.LaneLed}, term.Span{term.Text, " led   "},
			term.Span{term.Vacant, sym.LaneLost}, term.Span{term.Text, " lost   "},
			term.Span{term.Vacant, sym.LaneGap}, term.Span{term.Text, " no leader   "},
			term.Span{term.Vacant, sym.LaneWon}, term.Span{term.Text, " elected   "},
			term.Span{term.Vacant, sym.LaneChange}, term.Span{term.Text, " another leader   "},
			term.Span{term.Faint, sym.LaneUnseen}, term.Span{term.Text, " not observed"}),
		say("Rows", term.Span{term.Accent, sym.Mark}, term.Span{term.Text, " marked   "},
			term.Span{term.Accent, sym.MarkedCursor}, term.Span{term.Text, " marked, with the cursor   " + sym.AtLeast + " at least: start unknown   " + sym.Tilde +
				" estimate   ! written without lock   (node) of last leader   "},
			term.Span{term.Delay, sym.Urgent}, term.Span{term.Text, " urgent advice"}),
	}
}
