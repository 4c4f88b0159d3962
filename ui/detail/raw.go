package detail

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// rawLimit is the maximum size of a shown value, in bytes, because each frame formats the value.
const rawLimit = 64 << 10

func (d doc) writeRaw(e *election.Election) {
	p := e.Pair
	d.Value("Key", sanitize.Text(p.Key))
	indexes := fmt.Sprintf("lock %d %s create %d", p.LockIndex, d.Sym.Dot, p.CreateIndex)
	switch {
	case e.Store.Revisions:
		if indexes = fmt.Sprint("created at rev ", p.CreateIndex); p.ModRevision > 0 {
			indexes += fmt.Sprintf(" %s modified at rev %d", d.Sym.Dot, p.ModRevision)
		}
	case d.Past == nil:
		d.Value("Flags", fmt.Sprint(p.Flags), map[uint64]string{
			election.LockFlag: "flag value of api.Lock and consul lock", election.SemaphoreFlag: "flag value of api.Semaphore and consul lock -n",
		}[p.Flags])
		indexes += fmt.Sprintf(" %s modify %d", d.Sym.Dot, p.ModifyIndex)
	}
	d.Value("Indexes", indexes)
	d.Value("Session", scene.Clean(p.Session))
	switch {
	case d.Past != nil:
		d.Field("Value", kit.Quiet.Span(scene.NotStored))
		return
	case e.Recorded():
		d.Field("Value", kit.Quiet.Span("not read yet; the history does not store values"))
		return
	case p.Blocked():
		return
	}
	v, note := p.Value, ""
	if len(v) > rawLimit {
		v, note = v[:rawLimit], "; the first "+kit.Size(rawLimit)+" are shown"
	}
	kind, lines := valueText(v, d.Width)
	d.Value("Value", kit.Size(len(p.Value)), kind+note)
	d.Blank()
	for _, l := range lines {
		d.Add(kit.Text.Span(l))
	}
}

// valueText formats a value as JSON, text or a hex dump.
func valueText(v []byte, width int) (kind string, lines []string) {
	if len(v) == 0 {
		return "empty", nil
	}
	text, isText := plainText(v)
	kind = "text"
	if pretty := new(bytes.Buffer); bytes.ContainsAny(v[:1], "{[ \t\r\n") && json.Indent(pretty, v, "", "  ") == nil {
		kind, text = "JSON", pretty.String()
	} else if !isText {
		kind, text = "binary", strings.TrimSuffix(hex.Dump(v), "\n")
	}
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		l = sanitize.Text(strings.ReplaceAll(l, "\t", "    "))
		if kit.Width(l) <= width {
			lines = append(lines, l)
			continue
		}
		lines = append(lines, kit.HardWrap(l, width)...)
	}
	return kind, lines
}

// plainText returns a value as text if it contains few control characters and invalid bytes.
func plainText(v []byte) (string, bool) {
	unprintable := 0
	for _, r := range string(v) {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			unprintable++
		}
	}
	return string(v), unprintable*8 < len(v)
}
