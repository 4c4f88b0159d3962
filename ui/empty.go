package ui

import (
	"strconv"
	"strings"

	"electop/election"
)

// drawTooSmall says which size is needed.
func (m *Model) drawTooSmall(p *painter) []string {
	text := "electop needs " + strconv.Itoa(minWidth) + "x" + strconv.Itoa(minHeight) +
		", this is " + strconv.Itoa(m.width) + "x" + strconv.Itoa(m.height) + "; q quits"
	if m.now.Before(m.quitUntil) {
		text = m.note.text
	}
	var lines []string
	for _, part := range wrapText(text, m.width) {
		lines = append(lines, p.draw(m.width, span{roleText, part}))
	}
	return p.pad(lines, m.width, m.height)
}

// drawEmpty says why there is no election to show, and what can be done.
func (m *Model) drawEmpty(p *painter, s *scene, width, height int) []string {
	d := &doc{width: min(width-4, 84), sym: p.sym}
	c := m.live.Connection
	switch {
	case c.State == election.Lost:
		m.unreachable(d, s)
	case !m.live.Loaded:
		d.add(span{roleDelay, p.sym.connecting + " Connecting to Consul at " + clean(m.opts.Address)})
		d.blank()
		d.para(roleQuiet, "Elections appear here as soon as they are read.")
	default:
		m.nothingFound(d)
	}
	left := max(0, (width-d.width)/2)
	top := max(0, (height-len(d.lines))/3)
	lines := p.pad(make([]string, 0, height), width, top)
	l := newLine(p, width)
	for _, spans := range d.lines {
		l.reset(tonePlain)
		l.gap(left)
		l.texts(spans...)
		lines = append(lines, l.done())
	}
	return p.pad(lines, width, height)
}

func (m *Model) unreachable(d *doc, s *scene) {
	c := m.live.Connection
	title, silence := "Cannot reach Consul at "+clean(m.opts.Address), "No answer for "
	if c.Refused {
		title, silence = "Consul at "+clean(m.opts.Address)+" rejects the token", "Rejected for "
	}
	d.add(span{roleBad, d.sym.lost + " " + title})
	d.blank()
	if c.Error != "" {
		d.para(roleText, oneLine(c.Error, 400))
		d.blank()
	}
	d.para(roleQuiet, silence+duration(s.now.Sub(c.Since))+"; "+retryText(s, c.RetryAt)+". This screen recovers by itself.")
	d.blank()
	source := "The address comes from --http-addr or CONSUL_HTTP_ADDR."
	if c.Refused {
		source = "The token comes from --token, --token-file, CONSUL_HTTP_TOKEN or CONSUL_HTTP_TOKEN_FILE."
	}
	d.para(roleQuiet, source+" `electop doctor` says what this address and token may read.")
}

// nothingFound tells an empty place from one that may not be seen.
func (m *Model) nothingFound(d *doc) {
	patterns := make([]string, 0, len(m.opts.Patterns))
	for _, p := range m.opts.Patterns {
		patterns = append(patterns, clean(p))
	}
	what := strings.Join(patterns, ", ")
	if what == "" {
		what = election.DefaultPattern
	}
	if m.live.Filtered {
		d.add(span{roleDelay, "No election is visible under " + what})
		d.blank()
		d.para(roleText, "They may be hidden by the token's ACL: Consul leaves out keys that a token may not read. "+
			"That nothing is here is no proof that there is nothing.")
		d.blank()
		d.para(roleQuiet, "Reading elections needs key_prefix, session_prefix, node_prefix and service_prefix with "+
			"policy read. `electop doctor` says which of them are missing.")
		return
	}
	d.add(span{roleStrong, "No key matches " + what})
	d.blank()
	d.para(roleText, "Elections appear here as soon as a client creates such a key.")
	d.blank()
	d.para(roleQuiet, "Other keys are watched with -k PATTERN: * stands for one segment of a key, ** for any number. "+
		"`electop demo` shows a board with elections.")
}
