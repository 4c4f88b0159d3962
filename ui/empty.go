package ui

import (
	"strconv"
	"strings"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// drawTooSmall says which size is needed.
func (m *Model) drawTooSmall(p *term.Painter) []string {
	text := "electop needs " + strconv.Itoa(minWidth) + "x" + strconv.Itoa(minHeight) +
		", this is " + strconv.Itoa(m.width) + "x" + strconv.Itoa(m.height) + "; q quits"
	if m.now.Before(m.quitUntil) {
		text = m.note.text
	}
	var lines []string
	for _, part := range term.Wrap(text, m.width) {
		lines = append(lines, p.Draw(m.width, term.Span{term.Text, part}))
	}
	return p.Pad(lines, m.width, m.height)
}

// drawEmpty says why there is no election to show, and what can be done.
func (m *Model) drawEmpty(p *term.Painter, s *scene.Scene, width, height int) []string {
	d := &term.Page{Width: min(width-4, 84), Sym: p.Sym}
	c := m.live.Connection
	switch {
	case c.State == election.Lost:
		m.unreachable(d, s)
	case !m.live.Loaded:
		d.Add(term.Span{term.Delay, p.Sym.Connecting + " Connecting to Consul at " + scene.Clean(m.opts.Address)})
		d.Blank()
		d.Para(term.Quiet, "Elections appear here as soon as they are read.")
	default:
		m.nothingFound(d)
	}
	left := max(0, (width-d.Width)/2)
	top := max(0, (height-len(d.Lines))/3)
	lines := p.Pad(make([]string, 0, height), width, top)
	l := term.NewLine(p, width)
	for _, spans := range d.Lines {
		l.Reset(term.Plain)
		l.Gap(left)
		l.Texts(spans...)
		lines = append(lines, l.Done())
	}
	return p.Pad(lines, width, height)
}

func (m *Model) unreachable(d *term.Page, s *scene.Scene) {
	c := m.live.Connection
	title, silence := "Cannot reach Consul at "+scene.Clean(m.opts.Address), "No answer for "
	if c.Refused {
		title, silence = "Consul at "+scene.Clean(m.opts.Address)+" rejects the token", "Rejected for "
	}
	d.Add(term.Span{term.Bad, d.Sym.Lost + " " + title})
	d.Blank()
	if c.Error != "" {
		d.Para(term.Text, scene.OneLine(c.Error, 400))
		d.Blank()
	}
	d.Para(term.Quiet, silence+term.Duration(s.Now.Sub(c.Since))+"; "+retryText(s, c.RetryAt)+". This screen recovers by itself.")
	d.Blank()
	source := "The address comes from --http-addr or CONSUL_HTTP_ADDR."
	if c.Refused {
		source = "The token comes from --token, --token-file, CONSUL_HTTP_TOKEN or CONSUL_HTTP_TOKEN_FILE."
	}
	d.Para(term.Quiet, source+" `electop doctor` says what this address and token may read.")
}

// nothingFound tells an empty place from one that may not be seen.
func (m *Model) nothingFound(d *term.Page) {
	patterns := make([]string, 0, len(m.opts.Patterns))
	for _, p := range m.opts.Patterns {
		patterns = append(patterns, scene.Clean(p))
	}
	what := strings.Join(patterns, ", ")
	if what == "" {
		what = election.DefaultPattern
	}
	if m.live.Filtered {
		d.Add(term.Span{term.Delay, "No election is visible under " + what})
		d.Blank()
		d.Para(term.Text, "They may be hidden by the token's ACL: Consul leaves out keys that a token may not read. "+
			"That nothing is here is no proof that there is nothing.")
		d.Blank()
		d.Para(term.Quiet, "Reading elections needs key_prefix, session_prefix, node_prefix and service_prefix with "+
			"policy read. `electop doctor` says which of them are missing.")
		return
	}
	d.Add(term.Span{term.Strong, "No key matches " + what})
	d.Blank()
	d.Para(term.Text, "Elections appear here as soon as a client creates such a key.")
	d.Blank()
	d.Para(term.Quiet, "Other keys are watched with -k PATTERN: * stands for one segment of a key, ** for any number. "+
		"`electop demo` shows a board with elections.")
}
