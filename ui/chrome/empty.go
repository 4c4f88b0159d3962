package chrome

import (
	"cmp"
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
	for _, part := range kit.Flow(kit.Text.Spans(text), width) {
		lines = append(lines, p.Draw(width, part...))
	}
	return p.Pad(lines, width, height)
}

// Empty explains why the board shows no election, and what the user can do.
func Empty(p *kit.Painter, s *scene.Scene, k *keys.Map, width, height int) []string {
	d := &kit.Page{Width: min(width-4, 84), Sym: p.Sym}
	var all []kit.Span // a title and paragraphs
	switch {
	case s.Past != nil:
		all = []kit.Span{
			{kit.Strong, "No election was known at " + s.Past.At.Format(time.DateTime)},
			{kit.Text, "The history begins later, or no election existed."},
			{kit.Quiet, "Press " + k.Later.Help().Key + " for the next event, esc to return to now."},
		}
	case s.Stale:
		all = unreachable(s)
	case !s.Live.Loaded:
		all = []kit.Span{{kit.Delay, p.Sym.Connecting + " Connecting to " + s.Store() + " at " + scene.Clean(s.Address)}, {kit.Quiet, "Elections appear here as soon as they are read."}}
	default:
		all = nothingFound(s)
	}
	for i, part := range all {
		if i == 0 {
			d.Add(part)
			continue
		}
		d.Blank()
		d.Para(part.Role, part.Text)
	}
	lines := p.Pad(nil, width, max(0, (height-len(d.Lines))/3))
	for _, spans := range d.Lines {
		lines = append(lines, p.Draw(width, append(kit.Text.Spans(kit.PadTo("", (width-d.Width)/2)), spans...)...))
	}
	return p.Pad(lines, width, height)
}

// reason is an error without the words that the line before it contains.
func reason(s *scene.Scene, text string) string {
	store := "cannot reach " + s.Store()
	return strings.TrimPrefix(strings.TrimPrefix(scene.Clean(text), store+" at "+scene.Clean(s.Address)+": "), store+": ")
}

func unreachable(s *scene.Scene) []kit.Span {
	c, store, address := s.Live.Connection, s.Store(), scene.Clean(s.Address)
	title, silence, source := "Cannot reach "+store+" at "+address, "No response for ", "The address comes from --http-addr or CONSUL_HTTP_ADDR; for etcd, from --endpoints or ETCDCTL_ENDPOINTS."
	if c.Refused {
		title, silence = store+" at "+address+" denies access", "Denied for "
		source = "The token comes from --token, --token-file, CONSUL_HTTP_TOKEN or CONSUL_HTTP_TOKEN_FILE; for etcd, the user comes from --user or ETCDCTL_USER."
	}
	if s.Context != "" {
		source = "These settings come from the context " + scene.Clean(s.Context) + " or the command line."
	}
	all := kit.Bad.Spans(s.Sym.Critical + " " + title)
	if c.Error != "" {
		all = append(all, kit.Text.Span(reason(s, c.Error)))
	}
	all = append(all, kit.Quiet.Span(silence+s.Ago(c.Since)+"; "+retryText(s, c.RetryAt)+". This screen updates after a response."),
		kit.Quiet.Span(source+" `electop doctor` shows what this address and token can read."))
	if s.ContextHint != "" {
		all = append(all, kit.Text.Span(kit.Capital(s.ContextHint)+"."))
	}
	return all
}

// nothingFound explains why no election was found: no key matches, or the token may not be able to read the keys.
func nothingFound(s *scene.Scene) []kit.Span {
	what := scene.Clean(cmp.Or(strings.Join(s.Patterns, ", "), election.DefaultPattern))
	if s.Live.Filtered {
		return []kit.Span{
			{kit.Delay, "No visible election matches " + what},
			{kit.Text, "Consul omits keys that the token cannot read, so elections may exist that are not shown here."},
			{kit.Quiet, "Reading elections requires key_prefix, session_prefix, node_prefix and service_prefix with policy read. `electop doctor` shows which of these rules are missing."},
		}
	}
	if s.Several() && slices.ContainsFunc(s.Live.Datacenters(), func(part *election.Snapshot) bool { return part.Connection.State == election.Lost }) {
		what += " in the datacenters that respond"
	}
	return []kit.Span{
		{kit.Strong, "No key matches " + what}, {kit.Text, "Elections appear here as soon as a client creates such a key."},
		{kit.Quiet, ":discover finds all locks in the store. To watch other keys, use :watch PATTERN or -k PATTERN: * matches one segment of a key, and ** matches any number of segments."},
	}
}
