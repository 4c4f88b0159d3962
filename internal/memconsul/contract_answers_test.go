package memconsul_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// updateAnswers is the flag with which the test writes the transcripts from the responses of the real agent.
var updateAnswers = flag.Bool("update", false, "write testdata/*.txt from the real Consul agent")

// TestAnswers sends the requests of the transcripts in testdata, one per line: method, path and body. {p} is the key
// prefix of the case, {n} its node, {s1} its first session ({S1} in capitals), {s} its latest, and {m} the latest
// ModifyIndex. The indented lines below are the response. Its indexes are numbered in their order.
func TestAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			must(t, err)
			contract(t, func(f *fixture) {
				got := (&transcript{fixture: f, headers: strings.HasSuffix(file, "answers.txt")}).play(string(data))
				if *updateAnswers && strings.HasSuffix(f.Name(), "/consul") {
					must(f, os.WriteFile(file, []byte(got), 0o600))
					return
				}
				want := strings.Split(string(data), "\n")
				for i, line := range strings.Split(got, "\n") {
					if i >= len(want) || line != want[i] {
						f.Fatalf("line %d\n got %s\nwant %s", i+1, line, strings.Join(want[i:min(i+1, len(want))], ""))
					}
				}
			})
		})
	}
}

// transcript replaces the parts of the requests and responses that differ between runs.
type transcript struct {
	*fixture
	headers  bool // the transcript contains the headers
	sessions []string
	latest   string // ModifyIndex
}

var (
	anyIndex = regexp.MustCompile(`((?:Create|Modify)Index":|current modify index )([1-9]\d*)`)
	rawIndex = regexp.MustCompile(`#\d+`)
	anyID    = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

func (f *transcript) play(script string) string {
	f.Helper()
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t"):
			continue
		case !strings.HasPrefix(line, "#"):
			line += f.answer(line)
		}
		fmt.Fprintln(&out, line)
	}
	// The numbers have the order of the indexes.
	indexes := slices.Compact(slices.SortedFunc(slices.Values(rawIndex.FindAllString(out.String(), -1)), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}))
	return rawIndex.ReplaceAllStringFunc(out.String(), func(index string) string {
		return fmt.Sprint("#", 1+slices.Index(indexes, index))
	})
}

// answer sends the request of a line and returns the response.
func (f *transcript) answer(line string) string {
	f.Helper()
	fill := []string{"{p}", f.prefix, "{n}", f.unique, "{m}", f.latest}
	for i, id := range f.sessions {
		fill = append(fill, fmt.Sprintf("{s%d}", i+1), id, fmt.Sprintf("{S%d}", i+1), strings.ToUpper(id), "{s}", f.sessions[len(f.sessions)-1])
	}
	parts := strings.SplitN(strings.NewReplacer(fill...).Replace(line), " ", 3)
	r := f.do(parts[0], parts[1], strings.Join(parts[2:], ""))
	var created struct{ ID string }
	if parts[1] == "/v1/session/create" && r.code == http.StatusOK && json.Unmarshal([]byte(r.body), &created) == nil {
		f.sessions = append(f.sessions, created.ID)
		f.Cleanup(func() { f.put("/v1/session/destroy/"+created.ID, "") })
	}
	text := strings.TrimRight(fmt.Sprintf("\n\t%d %s", r.code, f.normal(r.body)), " ")
	if f.headers {
		text += "\n\t" + shownHeaders(r.header)
	}
	return text
}

func shownHeaders(h http.Header) string {
	var shown []string
	for name, values := range h {
		switch {
		case name == "X-Consul-Index":
			shown = append(shown, name)
		case strings.HasPrefix(name, "X-") || name == "Content-Type" || name == "Allow" || name == "Content-Security-Policy":
			shown = append(shown, name+": "+strings.Join(values, ","))
		}
	}
	slices.Sort(shown)
	return strings.Join(shown, "; ")
}

func (f *transcript) normal(body string) string {
	var buf bytes.Buffer
	if json.Compact(&buf, []byte(body)) == nil {
		body = buf.String()
	}
	for _, found := range anyIndex.FindAllStringSubmatch(body, -1) {
		if strings.HasPrefix(found[1], "Modify") {
			f.latest = found[2]
		}
	}
	body = anyIndex.ReplaceAllString(body, "${1}#${2}")
	for i, id := range f.sessions {
		body = strings.NewReplacer(id, fmt.Sprintf("{s%d}", i+1), strings.ToUpper(id), fmt.Sprintf("{S%d}", i+1)).Replace(body)
	}
	body = strings.NewReplacer(f.prefix, "{p}", f.unique, "{n}").Replace(anyID.ReplaceAllString(body, "{id}"))
	return strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n\t")
}
