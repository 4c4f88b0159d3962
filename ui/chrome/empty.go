package chrome

import (
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// TooSmall fills a window with an explanation instead of the board.
func TooSmall(p *kit.Painter, text string, width, height int) []string {
	var lines []string
	for _, part := range kit.Wrap(text, width) {
		lines = append(lines, p.Draw(width, kit.Span{kit.Text, part}))
	}
	return p.Pad(lines, width, height)
}

// Empty explains why the board shows no election, and what the user can do.
func Empty(p *kit.Painter, s *scene.Scene, k *keys.Map, width, height int) []string {
	d := &kit.Page{Width: min(width-4, 84), Sym: p.Sym}
	switch {
	case s.Past != nil:
		d.Add(kit.Span{kit.Strong, "No election was known at " + s.Past.At.Format(time.DateTime)})
		d.Blank()
		if at := s.Past.Begins; at.IsZero() {
			d.Para(kit.Text, "The history is empty.")
		} else {
			d.Para(kit.Text, "The oldest stored event is from "+at.In(s.Now.Location()).Format(time.DateTime)+".")
		}
		d.Blank()
		d.Para(kit.Quiet, "Press "+k.Later.Help().Key+" for the next event, esc to return to now.")
	case s.Stale:
		unreachable(d, s)
	case !s.Live.Loaded:
		d.Add(kit.Span{kit.Delay, p.Sym.Connecting + " Connecting to Consul at " + scene.Clean(s.Address)})
		d.Blank()
		d.Para(kit.Quiet, "Elections appear here as soon as they are read.")
	default:
		nothingFound(d, s)
	}
	left := max(0, (width-d.Width)/2)
	top := max(0, (height-len(d.Lines))/3)
	lines := p.Pad(make([]string, 0, height), width, top)
	l := kit.NewLine(p, width)
	for _, spans := range d.Lines {
		l.Reset(kit.Plain)
		l.Gap(left)
		l.Texts(spans...)
		lines = append(lines, l.Done())
	}
	return p.Pad(lines, width, height)
}

func unreachable(d *kit.Page, s *scene.Scene) {
	c, address := s.Live.Connection, s.Address
	title, silence := "Cannot reach Consul at "+scene.Clean(address), "No response for "
	if c.Refused {
		title, silence = "Consul at "+scene.Clean(address)+" rejects the token", "Rejected for "
	}
	d.Add(kit.Span{kit.Bad, d.Sym.Lost + " " + title})
	d.Blank()
	if c.Error != "" {
		d.Para(kit.Text, scene.OneLine(c.Error, 400))
		d.Blank()
	}
	d.Para(kit.Quiet, silence+kit.Duration(s.Now.Sub(c.Since))+"; "+retryText(s, c.RetryAt)+". This screen updates when Consul responds.")
	d.Blank()
	source := "The address comes from --http-addr or CONSUL_HTTP_ADDR."
	if c.Refused {
		source = "The token comes from --token, --token-file, CONSUL_HTTP_TOKEN or CONSUL_HTTP_TOKEN_FILE."
	}
	d.Para(kit.Quiet, source+" `electop doctor` shows what this address and token can read.")
	if s.Context == "" && len(s.Contexts) > 0 {
		d.Blank()
		d.Para(kit.Text, "The config file has the contexts "+scene.OneLine(strings.Join(s.Contexts, ", "), 200)+": use :ctx or --context.")
	}
}

// nothingFound explains why no election was found: no key matches, or the token may not be able to read the keys.
func nothingFound(d *kit.Page, s *scene.Scene) {
	cleaned := make([]string, 0, len(s.Patterns))
	for _, p := range s.Patterns {
		cleaned = append(cleaned, scene.Clean(p))
	}
	what := strings.Join(cleaned, ", ")
	if what == "" {
		what = election.DefaultPattern
	}
	if s.Live.Filtered {
		d.Add(kit.Span{kit.Delay, "No visible election matches " + what})
		d.Blank()
		d.Para(kit.Text, "Consul omits keys that the token cannot read, so elections may exist that are not shown here.")
		d.Blank()
		d.Para(kit.Quiet, "Reading elections requires key_prefix, session_prefix, node_prefix and service_prefix with "+
			"policy read. `electop doctor` shows which of these rules are missing.")
		return
	}
	if s.Several() && slices.ContainsFunc(s.Live.Datacenters(), func(part *election.Snapshot) bool { return part.Connection.State == election.Lost }) {
		what += " in the datacenters that respond"
	}
	d.Add(kit.Span{kit.Strong, "No key matches " + what})
	d.Blank()
	d.Para(kit.Text, "Elections appear here as soon as a client creates such a key.")
	d.Blank()
	d.Para(kit.Quiet, "To watch other keys, use -k PATTERN: * matches one segment of a key, and ** matches any number of segments. "+
		"`electop demo` shows a board with elections.")
}
