package watch_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"electop/tools/bench/internal/watch"
)

func TestHandlerPrintsChanges(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	object := func(key string, index int, value string) string { // "dHdv" is base64 for "two"
		return fmt.Sprintf(`{"Key":%q,"CreateIndex":1,"ModifyIndex":%d,"LockIndex":1,"Flags":0,"Value":%q,"Session":"s"}`, key, index, value)
	}
	var printed []watch.Line
	for _, text := range []string{
		"[" + object("a", 10, "b25l") + "," + object("b", 11, "b25l") + "]\n",
		"[" + object("a", 10, "b25l") + "," + object("b", 12, "Y2hhbmdlLTAwMDAwMDA5") + "]\n",
	} {
		var out bytes.Buffer
		if err := watch.Run(t.Context(), watch.Handler, []string{state}, bytes.NewBufferString(text), &out); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			printed = append(printed, watch.ParseLine(bytes.TrimSpace(line)))
		}
	}
	if len(printed) != 2 || printed[0].Ready != 2 || printed[1].Change != 9 || printed[1].At.IsZero() {
		t.Errorf("got %+v", printed)
	}
}
