package output_test

import (
	"encoding/json"
	"strings"
	"testing"

	"electop/internal/output"
)

func TestWriteArray(t *testing.T) {
	marshal := func(s string) ([]byte, error) { return json.Marshal(s) }
	for _, tt := range []struct {
		items []string
		want  string
	}{
		{nil, "[]\n"},
		{[]string{"a"}, "[\n\"a\"\n]\n"},
		{[]string{"a", "b"}, "[\n\"a\",\n\"b\"\n]\n"},
	} {
		var b strings.Builder
		if err := output.WriteArray(&b, tt.items, marshal); err != nil || b.String() != tt.want {
			t.Errorf("%v %q, want %q", err, b.String(), tt.want)
		}
	}
}

func TestWriteIndentedEscapesControlCharacters(t *testing.T) {
	var b strings.Builder
	if err := output.WriteIndented(&b, json.RawMessage("{\"a\":\"\u202e\"}")); err != nil || b.String() != "{\n  \"a\": \"\\u202e\"\n}\n" {
		t.Errorf("%v %q", err, b.String())
	}
}
