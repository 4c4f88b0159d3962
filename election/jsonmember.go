package election

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// usualMembers is how many members a value may have without more room being
// taken for them.
const usualMembers = 16

// jsonMember is a member of a JSON object. Its value is as it was written.
type jsonMember struct{ name, value []byte }

// JSONMember is the text of the member of a JSON object whose name equals name
// in any case of letters: the text of a string, the digits of a number, empty
// for anything else and for values that are no JSON objects.
func JSONMember(value []byte, name string) string {
	var room [usualMembers]jsonMember
	return memberText(jsonMembers(room[:0], value), name)
}

// memberText prefers the member that is named just so. Among others the first in
// the order of names wins, among those of one name the last.
func memberText(members []jsonMember, name string) string {
	var room [4]jsonMember
	var best, text string
	for _, m := range named(room[:0], members, name) {
		switch got := scalarText(m.value); {
		case got == "":
		case string(m.name) == name:
			return got
		case text == "" || string(m.name) < best:
			best, text = string(m.name), got
		}
	}
	return text
}

// named appends the members whose name equals name in any case of letters, the
// last of each way to write it.
func named(list, members []jsonMember, name string) []jsonMember {
	for _, m := range members {
		if !strings.EqualFold(string(m.name), name) {
			continue
		}
		i := slices.IndexFunc(list, func(l jsonMember) bool { return bytes.Equal(l.name, m.name) })
		if i < 0 {
			list = append(list, m)
		} else {
			list[i] = m
		}
	}
	return list
}

// jsonMembers appends the members of a JSON object to list. Reading them in
// place costs a fraction of what decoding them into a map does, and every value
// that is written is read.
func jsonMembers(list []jsonMember, value []byte) []jsonMember {
	value = bytes.Trim(value, " \t\r\n")
	if len(value) < 2 || value[0] != '{' || !json.Valid(value) {
		return nil
	}
	for i := skip(value, 1, " \t\r\n,"); value[i] != '}'; i = skip(value, i, " \t\r\n,") {
		end := stringEnd(value, i)
		name := value[i+1 : end-1]
		if !plain(name) {
			name = []byte(decodeString(value[i:end]))
		}
		i = skip(value, end, " \t\r\n:")
		end = valueEnd(value, i)
		list = append(list, jsonMember{name: name, value: value[i:end]})
		i = end
	}
	return list
}

// skip gives the place of the first byte from i on that is none of those.
func skip(text []byte, i int, those string) int {
	for strings.IndexByte(those, text[i]) >= 0 {
		i++
	}
	return i
}

// stringEnd gives the end of the string that begins at i of valid JSON.
func stringEnd(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd gives the end of the value that begins at i inside an object of valid
// JSON.
func valueEnd(text []byte, i int) int {
	for depth := 0; ; i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i // of the object around it
			}
			depth--
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
}

// scalarText is the text of a string or the digits of a number.
func scalarText(value []byte) string {
	switch c := value[0]; {
	case c == '-' || c >= '0' && c <= '9':
		return string(value)
	case c != '"':
		return ""
	}
	if text := value[1 : len(value)-1]; plain(text) {
		return string(bytes.TrimSpace(text))
	}
	return strings.TrimSpace(decodeString(value))
}

// plain reports the text of a JSON string that stands for itself.
func plain(text []byte) bool {
	for _, c := range text {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

func decodeString(quoted []byte) string {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return "" // never: it is valid
	}
	return text
}
