package shell

import (
	"slices"
	"strings"
)

// operands quotes positional arguments. If an argument begins with "-", operands adds "--" before all arguments.
func operands(texts ...string) []string {
	var words []string
	if slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "-") }) {
		words = []string{"--"}
	}
	for _, text := range texts {
		words = append(words, Quote(text))
	}
	return words
}

// Quote returns a text as one word of a POSIX shell. The text must not contain a NUL byte, because no argument can
// contain one.
func Quote(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func line(words []string) string { return strings.Join(words, " ") }
