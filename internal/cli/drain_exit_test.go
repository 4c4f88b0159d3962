package cli

import (
	"fmt"
	"testing"
)

// The exit code 0 of a drain means that the node can be rebooted: `electop drain node-2 && reboot`.

// An interrupted drain leaves each key as a candidate wrote it, and a second drain continues.
func TestAnInterruptedDrainLeavesNothingHalfDone(t *testing.T) {
	w := onReal(t)
	a, b, _ := threeNodes(t, w)
	p := prefix(t)
	var keys []string
	for i := range 5 {
		key, here := fmt.Sprintf("%s/web%d/leader", p, i), w.sessionOn(a)
		keys = append(keys, key)
		w.acquire(key, here, "here")
		contend(t, w, key, "here", here)
		contend(t, w, key, "there", w.sessionOn(b))
	}
	args := []string{"drain", a, "--yes", "--settle", "200ms", "-k", p + "/*/leader"}
	drain := w.background(args...)
	eventually(t, "release", func() bool { return w.get(keys[0]).LockIndex > 1 })
	if r := drain.stop(); r.code != exitFailed && r.code != exitOK {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
	w.run(args...).must(t, exitOK)
	for _, key := range keys {
		eventually(t, "leader of "+key, func() bool { pair := w.get(key); return pair.Session != "" && string(pair.Value) == "there" })
	}
}
