package detail

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"electop/ui/kit"
	"electop/ui/scene"
)

// valueLimit is the maximum size of a value that the Detail page decodes, in bytes.
const valueLimit = 16 << 10

// fieldLine is one member of a JSON value.
type fieldLine struct {
	Depth       int
	Name, Value string
}

// label returns the indented name. A name that fills the label column ends with a space, which separates it from the
// value.
func (f fieldLine) label() string {
	text := strings.Repeat("  ", min(f.Depth, 4)+1) + f.Name
	if w := kit.Width(text); w >= kit.LabelWidth {
		return text + " "
	}
	return text
}

// jsonFields formats a JSON object or array as lines of name and value, in their original order.
func jsonFields(v []byte) ([]fieldLine, bool) {
	if !looksLikeJSON(v) || !json.Valid(v) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(v))
	dec.UseNumber()
	w := fieldWriter{dec: dec}
	w.value(-1, "")
	return w.lines, len(w.lines) > 0
}

type fieldWriter struct {
	dec   *json.Decoder
	lines []fieldLine
}

// maxJSONDepth is the maximum nesting depth that is decoded. A marker replaces deeper values.
const maxJSONDepth = 12

func (w *fieldWriter) value(depth int, name string) {
	if depth > maxJSONDepth {
		var skipped json.RawMessage
		if w.dec.Decode(&skipped) == nil {
			w.add(depth, name, "(deeper)")
		}
		return
	}
	token, err := w.dec.Token()
	if err != nil {
		return
	}
	delim, isDelim := token.(json.Delim)
	if !isDelim {
		w.add(depth, name, scalar(token))
		return
	}
	mark := len(w.lines)
	if depth >= 0 {
		w.add(depth, name, emptyMark(w.dec, delim))
	}
	for w.dec.More() {
		member := "-"
		if delim == '{' {
			token, err := w.dec.Token()
			if err != nil {
				return
			}
			member, _ = token.(string)
		}
		w.value(depth+1, member)
	}
	_, _ = w.dec.Token() // a closing bracket, because the text is valid JSON
	if delim == '[' && depth >= 0 {
		w.join(mark)
	}
}

// joinLimit is the maximum length of a list that is written on one line, in bytes.
const joinLimit = 60

// join writes a short list of plain values after its name.
func (w *fieldWriter) join(at int) {
	var values []string
	total := 0
	for _, l := range w.lines[at+1:] {
		if l.Name != "-" || l.Value == "" || l.Depth != w.lines[at].Depth+1 {
			return
		}
		values = append(values, l.Value)
		total += len(l.Value)
	}
	if len(values) > 0 && total <= joinLimit {
		w.lines[at].Value = strings.Join(values, ", ")
		w.lines = w.lines[:at+1]
	}
}

func emptyMark(dec *json.Decoder, open json.Delim) string {
	switch {
	case dec.More():
		return ""
	case open == '{':
		return "{}"
	}
	return "[]"
}

func (w *fieldWriter) add(depth int, name, value string) {
	w.lines = append(w.lines, fieldLine{Depth: max(0, depth), Name: scene.Clean(name), Value: scene.Clean(value)})
}

func scalar(token json.Token) string {
	switch v := token.(type) {
	case nil:
		return "null"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}
