package election

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

func valueLabel(value []byte) string {
	if len(value) == 0 || !utf8.Valid(value) {
		return ""
	}
	members := membersOf(value)
	for _, name := range []string{"name", "node", "id", "host", "hostname", "address"} {
		if text := members.text(name); text != "" {
			return Label(text)
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

// shortLabel is the maximum length of a leader's label within a sentence, in runes.
const shortLabel = 60

// ShortLeader truncates a leader's label for a sentence or a narrow column.
func ShortLeader(label string) string { return sanitize.Line(label, shortLabel) }

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

// JSONMember returns the text or the digits of a member of a JSON object. It ignores the case of the member's name.
// It returns "" if value is not a JSON object or the member is neither a string nor a number.
func JSONMember(value []byte, name string) string { return membersOf(value).text(name) }

// member is a member of a JSON object. Its text is empty unless its value is a string or a number.
type member struct{ name, text string }

type members []member

// membersOf returns the members of a JSON object, or nil if value is not a JSON object.
func membersOf(value []byte) (all members) {
	if !bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n"), []byte("{")) { // an error of the decoder is expensive
		return nil
	}
	if json.Unmarshal(value, &all, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return all
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]. It is faster than a map, and runs for each election at the
// start.
func (m *members) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	var token jsontext.Token
	_, err := in.ReadToken()
	for err == nil {
		if token, err = in.ReadToken(); err != nil || token.Kind() == '}' {
			return err
		}
		one := member{name: token.String()}
		switch in.PeekKind() {
		case '"', '0':
			token, err = in.ReadToken()
			one.text = strings.TrimSpace(token.String())
		default:
			err = in.SkipValue()
		}
		*m = append(*m, one)
	}
	return err
}

// text returns the text of the last member with exactly this name. If this text is empty, it ignores case: it selects the
// first matching name in byte order that has a text.
func (m members) text(name string) string {
	var exact, best, text string
	for _, one := range m {
		switch {
		case one.name == name:
			exact = one.text
		case one.text != "" && strings.EqualFold(one.name, name) && (text == "" || one.name <= best):
			best, text = one.name, one.text
		}
	}
	return cmp.Or(exact, text)
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
	name := ShortLeader(h.Leader)
	if h.Node == "" || NamesNode(name, h.Node) {
		return name
	}
	return name + " on " + sanitize.Line(h.Node, 60)
}
