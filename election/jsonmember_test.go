package election

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// decodedMember is JSONMember as encoding/json alone tells it.
func decodedMember(value []byte, name string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return ""
	}
	if text := decodedScalar(members[name]); text != "" {
		return text
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		if strings.EqualFold(member, name) {
			if text := decodedScalar(members[member]); text != "" {
				return text
			}
		}
	}
	return ""
}

func decodedScalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

func memberSeeds() []string {
	return []string{
		`{"name":"web-1","address":"10.0.0.9:9000"}`, `{}`, ` { } `, `{"name":""}`, `{"name":null,"NAME":"b"}`,
		`{"Name":"a","NAME":"b","name":" c "}`, `{"NAME":"b","Name":"a"}`, `{"name":"a","name":"b"}`, `{"name":"a","name":true}`,
		`{"Name":"a","Name":null,"nAME":"c"}`, `{"name":-1.5e3}`, `{"name":0 }`, `{"name":[1,{"name":"x"}],"id":{"name":"y]}"}}`,
		`{"n\u0061me":"esc"}`, `{"name":"a\"b\\"}`, `{"name":"é"}`, "{\"name\":\"\xff\"}", "{\"na\xff\":1}", `{"name":"a"`, `{"name":"a"}x`,
		`{"name":"a",}`, `[{"name":"a"}]`, `null`, `"name"`, `{`, `}`, `{"name" : "a" , "x" : [ ] }`, "\u00a0{\"name\":1}", `{"name":"\ud800"}`,
		"{\n\t\"id\"\t:\r\n7\n}", `{"ADDREſS":"long s"}`, `{"address":"x","aDdress":{}}`, `{"":1}`, `{"name":"\t a \n"}`,
	}
}

func FuzzJSONMemberIsWhatEncodingJSONTells(f *testing.F) {
	for _, seed := range memberSeeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, name := range append(slices.Clone(labelMembersList()), "addr", "") {
			if got, want := JSONMember(value, name), decodedMember(value, name); got != want {
				t.Errorf("%q of %q: %q, want %q", name, value, got, want)
			}
		}
	})
}

func labelMembersList() []string { names := labelMembers(); return names[:] }
