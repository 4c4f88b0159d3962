package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// curlRuns is the number of runs of curl; the median counts.
const curlRuns = 5

// curl measures how long curl takes to read the keys and the sessions of the
// dashboard, one after the other in one process, without decoding them.
func (s *fixture) curl(ctx context.Context) (time.Duration, error) {
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
