package pages

import (
	"slices"

	"charm.land/bubbles/v2/key"

	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Help returns the help, opened at the page of a view: one page per view, a page about dialogs and a page about
// commands.
func Help(k keys.Map, view keys.Place) *scene.Overlay {
	pages := append(k.Pages(), keys.Page{Title: "Commands"})
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Help", Keys: k, Buttons: []kit.Button{{Key: "?", Do: func() any { return scene.Close{} }}}}}
	o.Tab = slices.Index([]keys.Place{keys.Elections, keys.Events, keys.Sessions}, view)
	for _, page := range pages {
		o.Tabs = append(o.Tabs, page.Title)
	}
	o.Write = func(page *kit.Page) {
		page.Lines = columns(pages[o.Tab].Groups, page.Width, page.Sym)
		if o.Tab == len(pages)-1 {
			page.Para(kit.Text, k.Command.Help().Key+" opens the command line; tab completes commands, elections and nodes.")
			page.Blank()
			for _, c := range k.Commands {
				page.Beside([]kit.Span{{kit.Key, ":" + c.Usage}}, commandWidth, kit.Span{kit.Text, c.About})
			}
			return
		}
		for _, sign := range signs(k, page.Sym)[o.Tab] {
			page.Beside([]kit.Span{{kit.Head, sign.label}}, labelWidth, sign.text...)
		}
		if scopes := []query.Scope{query.Elections, query.Events, query.Sessions}; o.Tab < len(scopes) {
			filterWords(page, scopes[o.Tab])
		}
	}
	return o
}

// Widths, in cells.
const (
	leastColumn  = 34 // minimum width of a column of keys and their descriptions
	keyWidth     = 8  // minimum width of the key names in that column
	columnGap    = 2  // gap between columns
	exampleWidth = 24 // width of the examples of filter words
	commandWidth = 22 // width of the usage of a command
	labelWidth   = 10 // width of the labels of the paragraphs about symbols
)

// filterWords explains the filter words for one kind of row.
func filterWords(page *kit.Page, s query.Scope) {
	add := func(example, means string) {
		page.Beside([]kit.Span{{kit.Text, "  "}, {kit.Key, example}}, exampleWidth, kit.Span{kit.Text, means})
	}
	intro := "all words must match"
	if s == query.Events {
		intro += "; the filter also searches the history"
	}
	page.Beside([]kit.Span{{kit.Head, "Filter"}}, labelWidth, kit.Span{kit.Text, intro})
	add("text", "in names, keys, leaders and nodes; quoted text is searched literally")
	add("!text", "! before a word inverts its match")
	add("/regex/", "regular expression; upper-case letters make it case-sensitive")
	for _, f := range query.FieldsOf(s) {
		add(f.ExampleIn(s), f.Means)
	}
}

// columns draws groups side by side. Each group is added to the shortest column.
func columns(groups []keys.Group, width int, sym *kit.Symbols) [][]kit.Span {
	n := max(1, min(len(groups), (width+columnGap)/(leastColumn+columnGap)))
	column := (width+columnGap)/n - columnGap
	all := make([][][]kit.Span, n)
	for _, g := range groups {
		shortest := 0
		for i := range all {
			if len(all[i]) < len(all[shortest]) {
				shortest = i
			}
		}
		all[shortest] = append(all[shortest], group(g, column, sym)...)
	}
	return beside(all, column)
}

// group draws the title and the keys of a group, then an empty line.
func group(g keys.Group, width int, sym *kit.Symbols) [][]kit.Span {
	page := &kit.Page{Width: width, Sym: sym}
	page.Add(kit.Span{kit.Head, g.Title})
	label := keyWidth
	for _, b := range g.Keys {
		label = max(label, kit.Width(b.Help().Key)+1)
	}
	for _, b := range g.Keys {
		h := b.Help()
		page.Beside([]kit.Span{{kit.Key, h.Key}}, label, kit.Span{kit.Text, h.Desc})
	}
	page.Blank()
	return page.Lines
}

// beside places columns of equal width side by side.
func beside(all [][][]kit.Span, width int) [][]kit.Span {
	rows := 0
	for _, column := range all {
		rows = max(rows, len(column))
	}
	lines := make([][]kit.Span, rows)
	for i := range lines {
		for c, column := range all {
			var cell []kit.Span
			if i < len(column) {
				cell = column[i]
			}
			lines[i] = append(lines[i], cell...)
			if c < len(all)-1 {
				lines[i] = append(lines[i], kit.Span{kit.Text, kit.PadTo("", width+columnGap-kit.SpansWidth(cell))})
			}
		}
	}
	return lines
}

// sign is one paragraph about symbols, with its label.
type sign struct {
	label string
	text  []kit.Span
}

func say(label string, text ...kit.Span) sign { return sign{label, text} }

// signs explains the symbols of each page.
func signs(km keys.Map, sym *kit.Symbols) [][]sign {
	k := func(b key.Binding) kit.Span { return kit.Span{kit.Key, b.Help().Key} }
	past := say("Past", k(km.Earlier), kit.Span{kit.Text, " and "}, k(km.Later),
		kit.Span{kit.Text, " step through events   :at 03:12   :at -2h   :at 2026-11-20T03:12   "}, k(km.Back), kit.Span{kit.Text, " returns to now"})
	denied := say("Keys", kit.Span{kit.Faint, "(" + km.Release.Help().Key + ") release"},
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
