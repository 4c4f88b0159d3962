package insight

import (
	"slices"
	"strings"
	"unicode"

	"electop/election"
)

// genericName reports whether a program or library gives this name to all its sessions.
func genericName(name string) bool {
	return slices.Contains([]string{apiLockSession, apiSemaphoreSession, vaultSession, campaignSession}, name)
}

// sameSettings reports whether TTL, behavior and lock-delay are equal, as in all sessions of one program.
func sameSettings(a, b *election.Session) bool {
	return a.TTL == b.TTL && a.Behavior == b.Behavior && a.LockDelay == b.LockDelay
}

// minNode is the minimum length of a node's name that is significant within another text.
const minNode = 3

// namedAfter reports whether a text contains the name of the election, as a word or as the beginning of a word
// ("web-host17"), or the parent of its key, as the session name of `consul lock` does.
func (b *Board) namedAfter(text string, e *election.Election) bool {
	if path := strings.TrimSuffix(election.Parent(e.Key()), "/"); path != "" && strings.Contains(text, " at '"+path+"'") {
		return true
	}
	if len(e.Name) < 2 || genericName(text) || !strings.Contains(text, e.Name) {
		return false
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}) {
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

func joins(c byte) bool { return c == '-' || c == '_' || c == '.' }

// namesLonger reports whether a word begins with a longer election name that has the same first n bytes: "web-cron-1"
// belongs to web-cron, not to web.
func (b *Board) namesLonger(word string, n int) bool {
	for i := n + 1; i <= len(word); i++ {
		if i == len(word) || joins(word[i]) {
			if _, ok := b.names()[word[:i]]; ok {
				return true
			}
		}
	}
	return false
}

// Shape returns the words of text without the node's name, numbers and IDs, because these differ between the instances
// of one program. It returns "" if no word can distinguish one program from another.
func Shape(text, node string) string {
	short, _, _ := strings.Cut(node, ".")
	for _, name := range []string{node, short} {
		if len(name) >= minNode {
			text = strings.ReplaceAll(text, name, "#")
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '#' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	specific := false
	for i, word := range words {
		if digit := strings.IndexFunc(word, unicode.IsDigit); digit >= 0 {
			if strings.ContainsFunc(word[digit:], unicode.IsLetter) { // a part of a UUID or of a pod's name
				digit = 0
			}
			words[i] = word[:digit] + "#"
		}
		switch letters := strings.ToLower(strings.Trim(words[i], "#")); letters {
		case "lock", "locks", "leader", "election", "session", "sessions", "service", "check", "checks", "ttl", "http", "https",
			"tcp", "grpc", "consul", "node", "host", "server", "health", "alive", "on", "at", "for", "of", "the", "to", "in",
			"api", "candidate", "instance", "local", "localhost", "id":
		default:
			specific = specific || len(letters) > 1
		}
	}
	if !specific {
		return ""
	}
	return strings.Join(words, "-")
}

// sameCheckService reports whether both sessions depend on a check of the same service: their check IDs are equal
// except for numbers and the node's name.
func sameCheckService(a, b *election.Session) bool {
	for _, x := range a.ServiceChecks {
		like := Shape(x, a.Node)
		for _, y := range b.ServiceChecks {
			if x == y && election.SameNode(a.Node, b.Node) || like != "" && like == Shape(y, b.Node) {
				return true
			}
		}
	}
	return false
}
