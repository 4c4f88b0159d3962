package election

import (
	"testing"

	"electop/election/sanitize"
)

func TestLeaderLabel(t *testing.T) {
	s := &Session{ID: "695bfbd0-6350", Name: "web", Node: "node-1"}
	named := func(name string) *Session { return &Session{ID: s.ID, Name: name, Node: s.Node} }
	tests := []struct {
		value, want string
		session     *Session
	}{
		{`{"Node":"web-1","Port":80}`, "web-1", s},
		{`{"address":"10.0.0.1","NAME":"n"}`, "n", s},
		{`{"id":7}`, "7", s},
		{`{"name":"","host":"h"}`, "h", s},
		{`{"name":{"a":1},"host":"h"}`, "h", s},
		{`{"Port":80}`, `{"Port":80}`, s},
		{"plain\ntext", "plain text", s},
		{"\x1b[2J", "␛[2J", s},
		{"", "web on node-1", s},
		{"\xff\xfe", "web on node-1", s},
		{"", "session 695bfbd0", nil},
		{"", "on node-1", named("")},
		{"", "./backup --full on node-1", named("Consul lock for './backup --full' at 'jobs/backup'")},
		{"", "echo 'a' at 'b' on node-1", named("Consul lock for 'echo 'a' at 'b'' at 'jobs/backup'")},
		{"", "␛[2J<U+202E>x on node-1", named("Consul lock for '\x1b[2J\u202ex' at 'p'")},
		{"", "Consul lock for ' ' at 'p' on node-1", named("Consul lock for ' ' at 'p'")},
		{"", "Consul lock for you on node-1", named("Consul lock for you")},
		{"", "Consul lock for 'x' at p on node-1", named("Consul lock for 'x' at p")},
		{"value", "value", named("Consul lock for './backup' at 'jobs/backup'")},
	}
	for _, tt := range tests {
		p := Pair{Value: []byte(tt.value), Session: s.ID}
		if got := LeaderLabel(p, tt.session); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.value, got, tt.want)
		}
	}
}

func TestNamesNode(t *testing.T) {
	s := newSession("a", "Consul lock for 'sleep 3000' at 'web'", "node-1")
	if label := LeaderLabel(Pair{Session: "a"}, s); !NamesNode(label, "node-1") || NamesNode(label, "node") || NamesNode("web-1", "node-1") {
		t.Errorf("%q", label)
	}
	elected := Event{Type: Elected, Leader: "sleep 3000 on node-1", Term: 2, Node: "node-1"}
	if got := elected.Summary(); got != "sleep 3000 on node-1, term 2" {
		t.Errorf("%q", got)
	}
}

func FuzzLeaderLabelIsSafe(f *testing.F) {
	for _, seed := range []string{"\x1b]0;title\x07\u202e\u009b", "\u2028\u2029\u00ad\u034f", "\xf0\x9f\x91", "\U000e0041\U000e007f", `{"name":"\u001b[2J"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		labels := []string{
			LeaderLabel(Pair{Value: []byte(s), Session: s}, &Session{Name: s, Node: s}),
			LeaderLabel(Pair{Session: s}, &Session{Name: s, Node: s}),
			LeaderLabel(Pair{Session: s}, nil), ShortID(s),
		}
		for _, label := range labels {
			if sanitize.Text(label) != label {
				t.Errorf("label %q is not sanitized", label)
			}
		}
	})
}
