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
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Help", Buttons: []kit.Button{{Key: "?", Do: func() any { return scene.Close{} }}}}}
	views := keys.Views()
	o.Tab = slices.Index(views, view)
	for _, page := range pages {
		o.Tabs = append(o.Tabs, page.Title)
	}
	o.Write = func(page *kit.Page) {
		page.Lines = columns(pages[o.Tab].Groups, page.Width)
		if o.Tab == len(pages)-1 {
			page.Para(kit.Text, k.Command.Help().Key+" opens the command line; tab completes commands, elections and nodes.")
			page.Blank()
			for _, c := range k.Commands {
				page.Beside(kit.Key.Spans(":"+c.Usage), commandWidth, kit.Text.Span(c.About))
			}
			return
		}
		var at keys.Place // empty on the page about dialogs
		if o.Tab < len(views) {
			at = views[o.Tab]
		}
		for _, l := range legends(k, page.Sym)[at] {
			var spans []kit.Span
			for _, sign := range l.signs {
				spans = append(spans, sign.role.Span(sign.symbol), kit.Text.Span(sign.text))
			}
			page.Beside(kit.Head.Spans(l.label), labelWidth, spans...)
		}
		if at != "" {
			filterWords(page, map[keys.Place]query.Scope{keys.Events: query.Events, keys.Sessions: query.Sessions}[at])
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
		page.Beside([]kit.Span{{kit.Text, "  "}, {kit.Key, example}}, exampleWidth, kit.Text.Span(means))
	}
	intro := "all words must match"
	if s == query.Events {
		intro += "; the filter also searches the history"
	}
	page.Beside(kit.Head.Spans("Filter"), labelWidth, kit.Text.Span(intro))
	add("text", "in names, keys, leaders and nodes; quoted text is searched literally")
	add("!text", "! before a word inverts its match")
	add("/regex/", "regular expression; upper-case letters make it case-sensitive")
	for _, f := range query.FieldsOf(s) {
		add(f.ExampleIn(s), f.Means)
	}
}

// columns draws groups side by side. Each group is added to the shortest column.
func columns(groups []keys.Group, width int) [][]kit.Span {
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
		all[shortest] = append(all[shortest], group(g, column)...)
	}
	var lines [][]kit.Span
	for c, cells := range all {
		for i, cell := range cells {
			if i == len(lines) {
				lines = append(lines, nil)
			}
			gap := kit.PadTo("", c*(column+columnGap)-kit.SpansWidth(lines[i]))
			lines[i] = append(append(lines[i], kit.Text.Span(gap)), cell...)
		}
	}
	return lines
}

// group draws the title and the keys of a group, then an empty line.
func group(g keys.Group, width int) [][]kit.Span {
	page := &kit.Page{Width: width}
	page.Add(kit.Head.Span(g.Title))
	label := keyWidth
	for _, b := range g.Keys {
		label = max(label, kit.Width(b.Help().Key)+1)
	}
	for _, b := range g.Keys {
		h := b.Help()
		page.Beside(kit.Key.Spans(h.Key), label, kit.Text.Span(h.Desc))
	}
	page.Blank()
	return page.Lines
}

// legend is one paragraph about symbols, with its label.
type legend struct {
	label string
	signs []sign
}

// sign is a symbol in its role, and its meaning.
type sign struct {
	role         kit.Role
	symbol, text string
}

// legends explains the symbols of each page.
func legends(km keys.Map, sym *kit.Symbols) map[keys.Place][]legend {
	k := func(b key.Binding) string { return b.Help().Key }
	past := legend{"Past", []sign{
		{kit.Key, k(km.Earlier), " and "}, {kit.Key, k(km.Later), " step through events   :at 03:12   :at -2h   :at 2026-11-20T03:12   "}, {kit.Key, k(km.Back), " returns to now"},
	}}
	denied := legend{"Keys", []sign{{kit.Faint, "(" + k(km.Release) + ") release", " in parentheses: this token lacks the permission; press the key to see the missing rule"}}}
	return map[keys.Place][]legend{
		keys.Elections: append(electionLegends(sym), past, denied),
		keys.Events:    {past},
		keys.Sessions: {
			{"Symbols", []sign{
				{kit.Led, sym.Led, " holds a known key   "}, {kit.Quiet, sym.Dot, " holds no known key; may be a waiter   "},
				{kit.Delay, sym.Warning, " possible orphan: idle, no TTL, one of several similar sessions"},
			}},
			denied,
		},
		"": {denied},
	}
}

// electionLegends explains the symbols in the table of elections.
func electionLegends(sym *kit.Symbols) []legend {
	return []legend{
		{"States", []sign{
			{kit.Led, sym.Led, " led   "}, {kit.Delay, sym.Delay, " lock-delay: acquires fail   "}, {kit.Vacant, sym.Vacant, " vacant   "},
			{kit.Quiet, sym.Dot, " idle: a finished job   "}, {kit.Accent, sym.Semaphore, " semaphore   "}, {kit.Quiet, sym.Unknown, " unreadable"},
		}},
		{"Checks", []sign{
			{kit.Text, "of the leader's session: ", ""}, {kit.Led, sym.Passing, " passing   "}, {kit.Delay, sym.Warning, " warning   "},
			{kit.Bad, sym.Critical, " critical   "}, {kit.Quiet, sym.Unknown, " unknown. "}, {kit.Delay, sym.Warning, " or "},
			{kit.Bad, sym.Critical, " after a name: leader at risk or failed. "},
			{kit.Quiet, "12m ago", " age of outdated checks: electop watches up to 16 nodes, those of visible leaders first"},
		}},
		{"Lane", []sign{
			{kit.Lane, sym.LaneLed, " led   "}, {kit.Vacant, sym.LaneLost, " lost   "}, {kit.Vacant, sym.LaneGap, " no leader   "},
			{kit.Vacant, sym.LaneWon, " elected   "}, {kit.Vacant, sym.LaneChange, " another leader   "}, {kit.Faint, sym.LaneUnseen, " not observed"},
		}},
		{"Rows", []sign{
			{kit.Delay, sym.Urgent, " urgent advice   "}, {kit.Accent, sym.Mark, " marked   "},
			{kit.Accent, sym.MarkedCursor, " marked and selected   " + sym.AtLeast + " at least: start unknown   ~ estimate   ! written without the lock   (node) of the last leader"},
		}},
		{"CHANGES/h", []sign{{kit.Text, "new leaders in the last hour, except after an operator's action", ""}}},
	}
}
