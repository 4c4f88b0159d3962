// Package shell writes commands for a POSIX shell. It does no I/O.
package shell

import "strings"

// Quote returns a text as one word of a POSIX shell. The text must not contain a NUL byte, because no argument can
// contain one.
func Quote(text string) string {
	if text != "" && strings.IndexFunc(text, special) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// special reports whether a character can have a special meaning for a shell.
func special(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_./:,@%+", r):
		return false
	}
	return true
}
