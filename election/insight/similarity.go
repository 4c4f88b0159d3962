package insight

import (
	"strings"
	"unicode"

	"electop/election"
)

// genericName reports whether a program or library gives this name to all its sessions.
func genericName(name string) bool {
	switch name {
	case apiLockSession, APISemaphoreSession, vaultSession, campaignSession:
		return true
	}
	return false
}

// sameSettings reports whether TTL, behavior and lock-delay are equal, as in all sessions of one program.
func sameSettings(a, b *election.Session) bool {
	return a.TTL == b.TTL && a.Behavior == b.Behavior && a.LockDelay == b.LockDelay
}

// minName is the minimum length of a name that is significant within another text.
const minName = 3

// namedAfter reports whether a text contains the name of the election, as a word or as the beginning of a word
// ("web-host17"), or the parent of its key, as the session name of `consul lock` does.
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

// namesLonger reports whether a word begins with a longer election name that has the same first n bytes: "web-cron-1"
// belongs to web-cron, not to web.
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

// shape replaces the node name, numbers and IDs in text with "#", because these differ between the instances of one
// program. It returns "" if the rest does not identify a program.
func shape(text, node string) string {
	var b strings.Builder
	specific := false
	for word := range words(withoutNode(text, node)) {
		word = withoutNumbers(word)
		specific = specific || distinguishes(word)
		b.WriteString(word)
	}
	if !specific {
		return ""
	}
	return b.String()
}

// withoutNode replaces the node's full or short name with "#" where it is a separate word.
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

// words yields the words of text and the separators between them.
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

// withoutNumbers replaces each number with "#". It returns "#" for a word with a letter after a digit, such as a part
// of a UUID or of a pod's name.
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

// distinguishes reports whether a word can distinguish one program from another.
func distinguishes(word string) bool {
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

// sameCheckService reports whether both sessions depend on a check of the same service: their check IDs are equal
// except for numbers and the node's name.
func sameCheckService(a, b *election.Session) bool {
	if a == nil || b == nil {
		return false
	}
	for _, x := range a.ServiceChecks {
		like := shape(x, a.Node)
		for _, y := range b.ServiceChecks {
			if x == y && election.SameNode(a.Node, b.Node) || like != "" && like == shape(y, b.Node) {
				return true
			}
		}
	}
	return false
}
