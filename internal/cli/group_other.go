//go:build !unix

package cli

import (
	"context"
	"os/exec"
	"time"
)

// runGroup runs a command until it ends or ctx does. Without process groups, what
// the command has started is not ended with it.
func runGroup(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	return cmd.Wait()
}
