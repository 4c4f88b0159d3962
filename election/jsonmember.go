package election

import (
	"encoding/json"
	"strings"
)

// JSONMember returns the text or the digits of a member of a JSON object. It ignores the case of the member's name.
// It returns "" if value is not a JSON object or the member is neither a string nor a number.
func JSONMember(value []byte, name string) string { return memberText(jsonMembers(value), name) }

// jsonMembers returns the members of a JSON object, or nil if value is not a JSON object. If a name occurs several
// times, it returns the last member with this name.
func jsonMembers(value []byte) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	return members
}

// memberText returns the text of the member with exactly this name. If this text is empty, memberText ignores case: it
// selects the first matching name in byte order that has a text, so that the result does not depend on the order of a
// map.
func memberText(members map[string]json.RawMessage, name string) string {
	if text := scalarText(members[name]); text != "" {
		return text
	}
	var best, text string
	for other, value := range members {
		if !strings.EqualFold(other, name) || text != "" && other > best {
			continue
		}
		if got := scalarText(value); got != "" {
			best, text = other, got
		}
	}
	return text
}

// scalarText returns the text of a string or the digits of a number.
func scalarText(value json.RawMessage) string {
	var text string
	switch {
	case len(value) == 0:
		return ""
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		return string(value)
	case json.Unmarshal(value, &text) != nil: // the value is an object, an array or a boolean
		return ""
	}
	return strings.TrimSpace(text)
}
