package output_test

import (
	"fmt"
	"strings"
	"testing"

	"electop/internal/output"
)

func TestWriteRecords(t *testing.T) {
	var b strings.Builder
	err := output.WriteRecords(&b, 40, []output.Record{
		{"keys service/*/leader", []output.Field{{"status", "ok"}, {"detail", "3 elections; an empty response means that there is no key"}, {"rule", ""}}},
		{"destroy", []output.Field{{"status", "denied"}}},
	})
	want := `keys service/*/leader
  status    ok
  detail    3 elections; an empty
            response means that there is
            no key

destroy
  status    denied
`
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}

func TestTableFits(t *testing.T) {
	var b strings.Builder
	table := output.NewTable(&b)
	fmt.Fprintf(table, "%s\t%s\n%s\t%s\n", "世界", "a", "b", "long")
	if !table.Fits(10) || table.Fits(9) {
		t.Error("Fits does not report that the table has 10 cells")
	}
	if err := table.Flush(); err != nil || !strings.Contains(b.String(), "b     long\n") {
		t.Errorf("%v %q", err, b.String())
	}
}
