package kit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/internal/crash"
)

// Task is one read that runs off the event loop. Only the event loop may use it. A nil Task is not running.
type Task struct {
	cancel       context.CancelFunc
	start, wait  tea.Cmd
	done, total  atomic.Int64 // written by the read
	over, isSlow bool         // over is set when the result was applied or the task was cancelled
}

// Progress receives the number of keys that a read has scanned, and of all keys. Any goroutine may call it.
type Progress = func(done, total int)

// TaskMsg is the message of a task to the event loop, which must call [TaskMsg.Apply].
type TaskMsg struct {
	task  *Task
	apply Apply // nil if the read is still in progress
}

// slowAfter is the time after which the screen shows that a read is in progress, and the interval between redraws of
// its progress.
const slowAfter = 200 * time.Millisecond

// Apply uses what a read found. It runs on the event loop and returns the next command.
type Apply = func() tea.Cmd

// Read returns a task that, once it is started, runs fn off the event loop and then what fn returns on the event loop,
// unless the task was cancelled. Cancelling ctx ends the read. A timeout of 0 is no limit.
func Read(ctx context.Context, timeout time.Duration, fn func(context.Context) Apply) *Task {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(timeout, math.MaxInt64))
	result := make(chan Apply, 1)
	t := &Task{cancel: cancel}
	t.wait = func() tea.Msg {
		select {
		case apply := <-result:
			return TaskMsg{t, apply}
		case <-time.After(slowAfter):
			return TaskMsg{task: t}
		}
	}
	t.start = func() tea.Msg {
		go func() {
			defer crash.Recover()
			defer cancel()
			result <- fn(ctx)
		}()
		return t.wait()
	}
	return t
}

// Progress is a [Progress] for the function of the task.
func (t *Task) Progress(done, total int) {
	t.total.Store(int64(total))
	t.done.Store(int64(done))
}

// Start returns the command that starts the read, or nil if there is no task or it was started before.
func (t *Task) Start() (cmd tea.Cmd) {
	if t != nil {
		cmd, t.start = t.start, nil
	}
	return cmd
}

// Apply passes the result of the task to the receiver and returns its command. It drops the result of a cancelled task.
func (m TaskMsg) Apply() tea.Cmd {
	switch t := m.task; {
	case t.over:
		return nil
	case m.apply == nil:
		t.isSlow = true
		return t.wait
	default:
		t.over = true
		return m.apply()
	}
}

// Cancel aborts the read and drops its result.
func (t *Task) Cancel() {
	if t != nil {
		t.over = true
		t.cancel()
	}
}

// Running reports whether the result is still awaited.
func (t *Task) Running() bool { return t != nil && !t.over }

// Slow reports whether a running read takes so long that the screen should show it.
func (t *Task) Slow() bool { return t.Running() && t.isSlow }

// Far describes the progress of a scan of keys: "1200 of 9800 keys".
func (t *Task) Far() string {
	return fmt.Sprint(t.done.Load(), " of ", t.total.Load(), " keys")
}
