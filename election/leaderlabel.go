package election

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"electop/election/sanitize"
)

// labelLength is the maximum length of a leader's label, in runes.
const labelLength = 120

// Label returns a name from Consul as one line that is safe to print, with at most labelLength runes.
func Label(name string) string { return sanitize.Line(name, labelLength) }

// sessionWord is the prefix of a label if only the ID of the session is known.
const sessionWord = "session"

// LeaderLabel names the leader in one line, safe to print. It returns the first member name, node, id, host, hostname
// or address of a JSON object; otherwise the value; otherwise the session's program and node. s is nil if the session
// was not read.
func LeaderLabel(p Pair, s *Session) string {
	if label := valueLabel(p.Value); label != "" {
		return label
	}
	return SessionLabel(p.Session, s)
}

// JSONOptions are the options of json.Unmarshal without its first pass, which only validates the text. After an error, the
// result may be incomplete.
//
//nolint:gochecknoglobals // constant
var JSONOptions = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

func valueLabel(value []byte) string {
	if len(value) == 0 || !utf8.Valid(value) {
		return ""
	}
	// A struct takes a sixth of the time of a map, and this library half the time of package json, which took a quarter of
	// the CPU time of the first board.
	var v struct{ Name, Node, ID, Host, Hostname, Address member }
	if bytes.IndexByte(value, '{') >= 0 && jsonv2.Unmarshal(value, &v, JSONOptions) == nil { // an error is expensive, too
		if text := cmp.Or(v.Name, v.Node, v.ID, v.Host, v.Hostname, v.Address); text != "" {
			return Label(string(text))
		}
	}
	return Label(string(value[:min(len(value), 4*labelLength+4)]))
}

// SessionLabel names a session by its program and node. It returns a label with the ID if s is nil or has neither a
// name nor a node.
func SessionLabel(id string, s *Session) string {
	switch {
	case s == nil && id == "":
		return ""
	case s == nil:
		return Label(sessionWord + " " + ShortID(id))
	case s.Name == "" && s.Node == "":
		return Label(sessionWord + " " + ShortID(s.ID))
	case s.Name == "":
		return Label("on " + s.Node)
	}
	name := s.Name
	if command, ok := ConsulLockCommand(name); ok && strings.TrimSpace(command) != "" {
		name = command
	}
	return Label(name) + " on " + Label(s.Node)
}

// NamesNode reports whether a label already ends with the node's name, as a label from [SessionLabel] does.
func NamesNode(label, node string) bool {
	return strings.HasSuffix(" "+label, " on "+Label(node))
}

// ShortID returns the first group of a session's UUID, which is long enough to distinguish the sessions on a screen. It
// returns the end of a lease's ID, because all leases of a server begin alike.
func ShortID(id string) string {
	short, _, uuid := strings.Cut(id, "-")
	if !uuid {
		short = id[max(0, len(id)-8):]
	}
	return sanitize.Line(short, 8)
}

// ConsulLockCommand returns CMD from the name that consul lock gives to its session,
// "Consul lock for 'CMD' at 'PREFIX'". ok is false for any other name.
func ConsulLockCommand(session string) (command string, ok bool) {
	rest, ok := strings.CutPrefix(session, "Consul lock for '")
	end := strings.LastIndex(rest, "' at '")
	if !ok || end < 0 || !strings.HasSuffix(rest, "'") {
		return "", false
	}
	return rest[:end], true
}

// JSONMember returns the text or the digits of a member of a JSON object. name is in lower case; the case of the member's
// name is ignored, but an exact match takes precedence. JSONMember returns "" if value is not a JSON object or the member is
// neither a string nor a number.
func JSONMember(value []byte, name string) (text string) {
	var all map[string]member
	if jsonv2.Unmarshal(value, &all, JSONOptions) != nil {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if found := string(all[key]); found != "" && strings.EqualFold(key, name) && (key == name || text == "") {
			text = found
		}
	}
	return text
}

// member is the text of a JSON string or number, or empty for another value.
type member string

// UnmarshalJSON accepts any value.
func (m *member) UnmarshalJSON(text []byte) error {
	switch c := text[0]; {
	case c == '"' && (bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text)):
		err := json.Unmarshal(text, (*string)(m))
		*m = member(strings.TrimSpace(string(*m)))
		return err
	case c == '"':
		*m = member(bytes.TrimSpace(text[1 : len(text)-1]))
	case c == '-', c >= '0' && c <= '9':
		*m = member(text)
	}
	return nil
}

// Holder identifies the holder of a key. All fields are safe to print.
type Holder struct {
	Leader  string `json:"leader"`
	Session string `json:"session"`
	// Node is empty if the session was not read.
	Node string `json:"node"`
}

// Text names the holder and its node: "web-1 on node-1".
func (h Holder) Text() string {
	name := sanitize.Line(h.Leader, 60)
	if h.Node == "" || NamesNode(name, h.Node) {
		return name
	}
	return name + " on " + sanitize.Line(h.Node, 60)
}
