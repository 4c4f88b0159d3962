package election

import "testing"

func TestJSONMember(t *testing.T) {
	tests := []struct{ value, name, want string }{
		{`{"name":"web-1","address":"10.0.0.9:9000"}`, "address", "10.0.0.9:9000"},
		{`{"name":" c "}`, "name", "c"},
		{`{"name":"\t a \n"}`, "name", "a"},
		{`{"name":-1.5e3}`, "name", "-1.5e3"},
		{`{"name":0 }`, "name", "0"},
		{"{\n\t\"id\"\t:\r\n7\n}", "id", "7"},
		{`{"port":12345678901234567890}`, "port", "12345678901234567890"},
		{`{"Port":80}`, "port", "80"},
		{`{"ADDREſS":"long s"}`, "address", "long s"},
		{`{"NAME":"b","name":"a"}`, "name", "a"},
		{`{"NAME":"b","Name":"a"}`, "name", "b"},
		{`{"name":null,"Name":"a","NAME":{}}`, "name", "a"},
		{`{"name":"","NAME":"b"}`, "name", "b"},
		{`{"name":"a","name":"b"}`, "name", "b"},
		{`{"name":"a","name":true}`, "name", ""},
		{`{"name":[1,{"name":"x"}],"id":{"name":"y]}"}}`, "name", ""},
		{`{"n\u0061me":"a\"b\\"}`, "name", `a"b\`},
		{`{"name":"\ud800"}`, "name", "\ufffd"},
		{"{\"name\":\"\xff\"}", "name", "\ufffd"},
		{`{"":1}`, "", "1"},
		{`{"name":"a"`, "name", ""},
		{`{"name":"a"}x`, "name", ""},
		{`{"name":"a",}`, "name", ""},
		{`[{"name":"a"}]`, "name", ""},
		{`null`, "name", ""},
		{`"name"`, "name", ""},
		{"\u00a0{\"name\":1}", "name", ""},
		{"", "name", ""},
	}
	for _, tt := range tests {
		if got := JSONMember([]byte(tt.value), tt.name); got != tt.want {
			t.Errorf("%q of %q: %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}
