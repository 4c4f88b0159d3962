package insight

import (
	"strings"
	"unicode"

	"electop/election"
)

// genericName reports names that libraries give to every session, whatever it
// is for.
func genericName(name string) bool {
	switch name {
	case apiLockSession, apiSemaphoreSession, vaultSession, campaignSession:
		return true
	}
	return false
}

// sameSettings reports that two sessions may have been made by one program.
func sameSettings(a, b *election.Session) bool {
	return a.TTL == b.TTL && a.Behavior == b.Behavior && a.LockDelay == b.LockDelay
}

// minName is the length from which on an election's name tells something when it
// is found within another text.
const minName = 3

// namedAfter reports whether a text names the election: as one of its words, as
// the beginning of one ("web-host17"), or as `consul lock` does, by the path.
func (b *Board) namedAfter(text string, e *election.Election) bool {
	if path := strings.TrimSuffix(election.Parent(e.Key()), "/"); path != "" && strings.Contains(text, " at '"+path+"'") {
		return true
	}
	if len(e.Name) < minName || genericName(text) || !strings.Contains(text, e.Name) {
		return false
	}
	for _, word := range strings.FieldsFunc(text, betweenWords) {
		if word == e.Name {
			return true
		}
		rest, ok := strings.CutPrefix(word, e.Name)
		if ok && joins(rest[0]) && !b.namesLonger(word, len(e.Name)) {
			return true
		}
	}
	return false
}

func betweenWords(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
}

func joins(c byte) bool { return c == '-' || c == '_' || c == '.' }

// namesLonger reports whether a word names an election with a longer name that
// begins with the same n bytes: "web-cron-1" is about web-cron, not about web.
func (b *Board) namesLonger(word string, n int) bool {
	for i := n + 1; i <= len(word); i++ {
		if i == len(word) || joins(word[i]) {
			if _, ok := b.names[word[:i]]; ok {
				return true
			}
		}
	}
	return false
}

// shape is a text without what differs from one instance of a program to the
// next: its node's name, numbers and ids. It is empty when nothing is left that
// tells one program from another.
func shape(text, node string) string {
	var b strings.Builder
	specific := false
	for word := range words(withoutNode(text, node)) {
		word = withoutNumbers(word)
		specific = specific || tells(word)
		b.WriteString(word)
	}
	if !specific {
		return ""
	}
	return b.String()
}

// withoutNode replaces the node's name, full and short, by a mark where it
// stands as a word of its own.
func withoutNode(text, node string) string {
	short, _, _ := strings.Cut(node, ".")
	for _, name := range []string{node, short} {
		if len(name) < minName {
			continue
		}
		for from := 0; ; {
			i := strings.Index(text[from:], name)
			if i < 0 {
				break
			}
			i += from
			if end := i + len(name); boundary(text, i) && boundary(text, end) {
				text = text[:i] + "#" + text[end:]
			}
			from = i + 1
		}
	}
	return text
}

// boundary reports whether a word may begin or end at an offset.
func boundary(text string, i int) bool {
	return i == 0 || i == len(text) || !alphanumeric(text[i-1]) || !alphanumeric(text[i])
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// words cuts a text into words and what stands between them.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for start, i := 0, 1; i <= len(text); i++ {
			if i == len(text) || alphanumeric(text[i]) != alphanumeric(text[i-1]) {
				if !yield(text[start:i]) {
					return
				}
				start = i
			}
		}
	}
}

// withoutNumbers replaces an id (letters after digits, as in a UUID or a pod's
// name) as a whole, and otherwise each number.
func withoutNumbers(word string) string {
	var b strings.Builder
	digit := false
	for _, r := range word {
		switch {
		case unicode.IsDigit(r) && !digit:
			b.WriteByte('#')
		case unicode.IsDigit(r):
		case digit && unicode.IsLetter(r):
			return "#"
		default:
			b.WriteRune(r)
		}
		digit = unicode.IsDigit(r)
	}
	return b.String()
}

// tells reports whether a word can tell one program from another.
func tells(word string) bool {
	letters := strings.ToLower(strings.TrimRight(word, "#"))
	if len(letters) < 2 || !alphanumeric(letters[0]) {
		return false
	}
	switch letters {
	case "lock", "locks", "leader", "election", "session", "sessions", "service", "check", "checks", "ttl", "http", "https",
		"tcp", "grpc", "consul", "node", "host", "server", "health", "alive", "on", "at", "for", "of", "the", "to", "in",
		"api", "candidate", "instance", "local", "localhost", "id":
		return false
	}
	return true
}

// sameCheckService reports whether both sessions depend on a check of the same
// service: one check, or ids that differ in numbers and in the node's name only.
func sameCheckService(a, b *election.Session) bool {
	if a == nil || b == nil {
		return false
	}
	for _, x := range a.ServiceChecks {
		like := shape(x, a.Node)
		for _, y := range b.ServiceChecks {
			if x == y && a.Node == b.Node || like != "" && like == shape(y, b.Node) {
				return true
			}
		}
	}
	return false
}
