package query_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"electop/election/query"
)

var update = flag.Bool("update", false, "write the table of docs/filter.md")

// table returns the table of the fields in docs/filter.md.
func table() string {
	var b strings.Builder
	for _, f := range query.Fields() {
		var lists []string
		for _, s := range f.Scopes {
			lists = append(lists, s.String())
		}
		values, last := "", ""
		for _, s := range f.Scopes {
			if all := strings.Join(f.Values(s), "` `"); all != last {
				last, values = all, values+"; in "+s.String()+" `"+all+"`"
			}
		}
		b.WriteString("| `" + f.Example + "` | " + strings.Join(lists, ", ") + " | " + f.Means + values + " |\n")
	}
	return b.String()
}

func TestTheDocumentHasEveryField(t *testing.T) {
	const path, begin, end = "../../docs/filter.md", "<!-- words -->\n", "<!-- end of words -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/filter.md lacks the comments around the table of fields")
	}
	want := head + begin + table() + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("the table of %s differs from the fields; run the test with -update", path)
	}
	for _, key := range query.OrderKeys() {
		if !strings.Contains(tail, "`"+key+"`") {
			t.Errorf("%s lacks the order %s", path, key)
		}
	}
}

// Each field must have a valid example. Completion must offer each field, and the error about an unknown field must
// contain it.
func TestEveryFieldIsUsable(t *testing.T) {
	for _, f := range query.Fields() {
		for _, s := range f.Scopes {
			if got := query.Parse(f.ExampleIn(s), s); got.Err != nil || len(got.Words) != 1 || got.Words[0].Field != f.Name {
				t.Errorf("%s for %s: %+v", f.ExampleIn(s), s, got)
			}
			if _, options := query.Complete(f.Name[:1], s, nil); !slices.Contains(options, f.Name+":") {
				t.Errorf("completion for %s does not offer %s: %q", s, f.Name, options)
			}
			if err := query.Parse("foo:x", s).Err; err == nil || !strings.Contains(err.Error(), f.Name+":") {
				t.Errorf("the error for %s does not contain %s: %v", s, f.Name, err)
			}
			for _, v := range f.Values(s) {
				if err := query.Parse(f.Name+":"+v, s).Err; err != nil {
					t.Error(err)
				}
			}
		}
	}
}
