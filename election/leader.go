package election

import (
	"strings"
	"unicode/utf8"
)

// labelLength is the longest leader label, in runes.
const labelLength = 120

// sessionWord begins the label of a session that is known by its id alone.
const sessionWord = "session"

// labelMembers are the members of a JSON value that name a leader, best first.
func labelMembers() [6]string {
	return [...]string{"name", "node", "id", "host", "hostname", "address"}
}

// LeaderLabel is the value of a key as one short line that names the leader: of
// a JSON object the member name, node, id, host, hostname or address (the first
// that is there, in any case of letters), otherwise the text itself, otherwise
// the name of the session, or of consul lock's the command, and its node. s may
// be nil when the session was not read. The label is safe to show (see
// [Sanitize]).
func LeaderLabel(p Pair, s *Session) string {
	if label := valueLabel(p.Value); label != "" {
		return label
	}
	return sessionLabel(p.Session, s)
}

func valueLabel(value []byte) string {
	if len(value) == 0 || !utf8.Valid(value) {
		return ""
	}
	var room [usualMembers]jsonMember
	members := jsonMembers(room[:0], value)
	for _, name := range labelMembers() {
		if text := memberText(members, name); text != "" {
			return Line(text, labelLength)
		}
	}
	return Line(string(value[:min(len(value), 4*labelLength+4)]), labelLength)
}

func sessionLabel(id string, s *Session) string {
	switch {
	case s == nil && id == "":
		return ""
	case s == nil:
		return Line(sessionWord+" "+ShortID(id), labelLength)
	case s.Name == "" && s.Node == "":
		return Line(sessionWord+" "+ShortID(s.ID), labelLength)
	case s.Name == "":
		return Line("on "+s.Node, labelLength)
	}
	return Line(sessionProgram(s.Name), labelLength) + " on " + Line(s.Node, labelLength)
}

// sessionProgram is the command that consul lock runs, otherwise the name.
func sessionProgram(name string) string {
	if command, ok := consulLockCommand(name); ok && strings.TrimSpace(command) != "" {
		return command
	}
	return name
}

// shortLabel is how much of a leader's label a sentence shows, in runes.
const shortLabel = 60

// ShortLeader is a leader's label for a sentence or a narrow column.
func ShortLeader(label string) string { return Line(label, shortLabel) }

// NamesNode reports a label that already ends with the node, as that of a
// session does.
func NamesNode(label, node string) bool {
	return strings.HasSuffix(" "+label, " on "+Line(node, labelLength))
}

// ShortID is the first group of a session's UUID, enough to tell sessions apart
// on a screen.
func ShortID(id string) string {
	short, _, _ := strings.Cut(id, "-")
	return Line(short, 8)
}
