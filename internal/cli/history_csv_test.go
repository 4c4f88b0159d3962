package cli

import (
	"encoding/csv"
	"strings"
	"testing"
)

func TestCSVTextIsNoFormula(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"web-1":                  "web-1",
		"a=b":                    "a=b",
		"=1+1":                   "'=1+1",
		"+1":                     "'+1",
		"-1":                     "'-1",
		"@SUM(A1)":               "'@SUM(A1)",
		"\t=1":                   "'=1",
		"\r\n+1":                 "'+1",
		"\x00=1":                 "␀=1", // the visible symbol for NUL is not the beginning of a formula
		"\u200b=1":               "<U+200B>=1",
		"＝1+1":                   "'＝1+1",
		"'=1":                    "'=1",
		`=HYPERLINK("http://x")`: `'=HYPERLINK("http://x")`,
	} {
		if got := csvText(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// No cell with a text from Consul begins like a formula, and numbers are unchanged.
func TestHistoryAsCSVContainsNoFormulas(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	s := w.session(nil)
	w.acquire("=1+1/-2", s, `=HYPERLINK("http://example.com")`)
	events := w.follow("watch", "-o", "json", "-k", "*/*", "--history", file)
	events.next()
	w.unlock("=1+1/-2", s)
	events.until("explained")
	events.stop()
	for _, args := range [][]string{nil, {"--terms"}, {"--stats"}} {
		r := w.run(append([]string{"history", "-o", "csv", "--history", file}, args...)...).must(t, exitOK)
		records, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
		if err != nil || len(records) < 2 {
			t.Fatalf("%v: %v\n%s", args, err, r.out)
		}
		if !strings.Contains(r.out, "'=1+1/-2") {
			t.Errorf("%v: the output lacks the key:\n%s", args, r.out)
		}
		for _, record := range records[1:] {
			for i, cell := range record {
				number := strings.HasSuffix(records[0][i], "_ms") || records[0][i] == "term"
				if cell != "" && (strings.ContainsAny(cell[:1], "=+-@\t\r") || number && cell[0] == '\'') {
					t.Errorf("%v: %s is %q", args, records[0][i], cell)
				}
			}
		}
	}
}
