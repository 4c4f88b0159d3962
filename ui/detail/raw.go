package detail

import (
	"bytes"
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

// rawText caches the formatted lines of a value, because formatting 512 KiB takes longer than a frame.
type rawText struct {
	of    *election.Election
	width int
	lines [][]kit.Span
}

func rawLines(s *scene.Scene, e *election.Election, width int) [][]kit.Span {
	sym := s.Sym
	d := &kit.Page{Width: width, Sym: sym}
	p := e.Pair
	d.Field("Key", kit.Span{kit.Text, sanitize.Text(p.Key)})
	if s.Past != nil {
		d.Field("Indexes", kit.Span{kit.Text, fmt.Sprintf("lock %d %s create %d", p.LockIndex, sym.Dot, p.CreateIndex)})
		d.Field("Session", kit.Span{kit.Text, scene.Clean(p.Session)})
		d.Field("Value", kit.Span{kit.Quiet, scene.NotStored + "; flags are not stored either"})
		return d.Lines
	}
	d.Field("Flags", kit.Span{kit.Text, scene.Number(p.Flags)}, kit.Span{kit.Quiet, flagsWords(p.Flags)})
	d.Field("Indexes", kit.Span{kit.Text, fmt.Sprintf("lock %d %s modify %d %s create %d",
		p.LockIndex, sym.Dot, p.ModifyIndex, sym.Dot, p.CreateIndex)})
	if p.Session != "" {
		d.Field("Session", kit.Span{kit.Text, scene.Clean(p.Session)})
	}
	if e.Recorded() {
		d.Field("Value", kit.Span{kit.Quiet, "not read yet; the history does not store values"})
		return d.Lines
	}
	kind, lines := valueText(p.Value, width)
	d.Field("Value", kit.Span{kit.Text, kit.Size(len(p.Value))}, kit.Span{kit.Quiet, "  " + kind})
	d.Blank()
	for _, l := range lines {
		d.Add(kit.Span{kit.Text, l})
	}
	return d.Lines
}

func flagsWords(flags uint64) string {
	switch flags {
	case election.LockFlag:
		return "  flag value of api.Lock and consul lock"
	case election.SemaphoreFlag:
		return "  flag value of api.Semaphore and consul lock -n"
	}
	return ""
}

// valueText formats a value as JSON, text or a hex dump.
func valueText(v []byte, width int) (kind string, lines []string) {
	if len(v) == 0 {
		return "empty", nil
	}
	trimmed, pretty := bytes.TrimSpace(v), new(bytes.Buffer)
	if len(trimmed) > 1 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Indent(pretty, v, "", "  ") == nil {
		return "JSON", textLines(pretty.String(), width)
	}
	if text, ok := plainText(v); ok {
		return "text", textLines(text, width)
	}
	return "binary", hexLines(v, width)
}

// plainText returns a value as text if it is valid UTF-8 with few control characters.
func plainText(v []byte) (string, bool) {
	if !utf8.Valid(v) {
		return "", false
	}
	controls := 0
	for _, r := range string(v) {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			controls++
		}
	}
	return string(v), controls == 0 || controls*8 < len(v)
}

func textLines(text string, width int) []string {
	var lines []string
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		l = sanitize.Text(strings.ReplaceAll(l, "\t", "    "))
		if kit.Width(l) <= width {
			lines = append(lines, l)
			continue
		}
		lines = append(lines, kit.HardWrap(l, width)...)
	}
	return lines
}

// hexLines formats bytes like hexdump -C, as many per line as fit.
func hexLines(v []byte, width int) []string {
	per := 16
	if width < 8+2+per*3+2+per+1 {
		per = 8
	}
	if width < 8+2+per*3+2+per+1 {
		per = 4
	}
	lines := make([]string, 0, len(v)/per+1)
	for at := 0; at < len(v); at += per {
		part := v[at:min(at+per, len(v))]
		text := bytes.Clone(part)
		for i, b := range text {
			if b < 0x20 || b > 0x7e {
				text[i] = '.'
			}
		}
		lines = append(lines, fmt.Sprintf("%08x  %-*s |%s|", at, per*3, fmt.Sprintf("% x", part), text))
	}
	return lines
}
