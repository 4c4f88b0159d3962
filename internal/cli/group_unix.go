//go:build unix

package cli

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

const (
	// groupPoll is how often a process group is checked for processes that are
	// left.
	groupPoll = 20 * time.Millisecond
	// killedLimit is how long a group that was killed may take to vanish. A process
	// in an uninterruptible system call takes longer.
	killedLimit = time.Second
)

// runGroup runs a command in a process group of its own and returns when no
// process of that group is left. When ctx ends the group gets SIGTERM, and after
// the grace SIGKILL.
func runGroup(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace // for a process that left the group and keeps the standard input open
	if err := cmd.Start(); err != nil {
		return err
	}
	g := &processGroup{id: cmd.Process.Pid, ended: make(chan error, 1)}
	go func() { g.ended <- cmd.Wait() }()
	if g.await(ctx) {
		return g.err
	}
	_ = signalGroup(g.id, syscall.SIGTERM) // it may have ended by now
	if g.awaitFor(grace) {
		return g.err
	}
	_ = signalGroup(g.id, syscall.SIGKILL)
	g.awaitFor(killedLimit)
	return g.err
}

// processGroup is a running command and what it has started.
type processGroup struct {
	id    int
	ended chan error // how the command ended; nil once that was received
	err   error
}

func (g *processGroup) awaitFor(limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return g.await(ctx)
}

// await waits until no process of the group is left and reports that; when ctx
// ends first it returns false.
func (g *processGroup) await(ctx context.Context) bool {
	tick := time.NewTicker(groupPoll)
	defer tick.Stop()
	for {
		if g.ended == nil && groupGone(g.id) {
			return true
		}
		select {
		case g.err = <-g.ended:
			g.ended = nil
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

// signalGroup sends a signal to every process of a group.
func signalGroup(group int, sig syscall.Signal) error { return syscall.Kill(-group, sig) }

// groupGone reports that no process of a group is left, once its leader was waited
// for. As process 1 of a container electop inherits orphans and has to reap them.
func groupGone(group int) bool {
	for {
		if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
		}
	}
}
