package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// curlRuns is how often curl reads everything; the median counts.
const curlRuns = 5

// curl is how long curl takes to read what a board shows: the keys and the
// sessions, one after the other in one process, not looked at.
func (s *stage) curl(ctx context.Context) (time.Duration, error) {
	base := "http://" + s.addr() + "/v1/"
	var took []time.Duration
	for range curlRuns {
		cmd := exec.CommandContext(ctx, "curl", "-sS", "--fail", "-o", "/dev/null", "-o", "/dev/null", //nolint:gosec // the address is that of our own server
			base+"kv/"+keyPrefix+"?recurse", base+"session/list")
		cmd.SysProcAttr = dieWithParent()
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("curl: %w: %s", err, out)
		}
		took = append(took, time.Since(start))
	}
	return median(took), nil
}
