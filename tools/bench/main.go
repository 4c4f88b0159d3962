// Bench measures electop with a real Consul server: the latency between the response
// to a write and electop's event, and the CPU time and memory that electop uses. It
// measures other watchers in the same way.
//
// `make bench` runs it. It starts a Consul server with a data folder and creates
// elections. Then, for each watcher in turn, it writes changes at a fixed rate and
// records when the watcher reports each of them.
//
// How the figures are measured:
//
//   - Every watcher is a separate process, with its own CPU time and memory. The
//     bench program itself only writes.
//   - Every change writes a new value, so that a watcher's line identifies the
//     change. In nine of ten changes, the holder writes its key again (`?acquire`).
//     Every tenth change transfers the key to another session in one transaction
//     (-moves).
//   - Four consecutive changes affect the same key (-flaps). A watcher that is too
//     slow reports only the last of them, and the others count as not seen.
//   - Changes are written at fixed times: a slow server or watcher does not reduce
//     the rate.
//   - The latency of a change is the time from the response to the write until bench
//     reads the watcher's line from a pipe. It includes the delays of the pipe and of
//     the scheduler, and the encoding of JSON. It is negative if the watcher is faster
//     than the response to the write.
//   - The handler of `consul watch` records its timestamp after it has read its input;
//     the latency excludes the time to find the change.
//   - CPU times are those of the kernel for the whole process (CPUCLOCK_SCHED, which
//     /proc/PID/stat shows in hundredths of a second). The server's time for the
//     writes is measured first, without a watcher, and subtracted.
//   - At the start, ready is the time until the last election was reported.
//   - -screen measures the dashboard in a pseudo-terminal: from the start to the write that completes the table, and from
//     a key press to the first byte that the program writes. Other programs in the tables: a Bubble Tea program that
//     draws one line, and the binary of -against.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"electop/tools/bench/internal/watch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the benchmark, or the role of a separate process that bench has started.
func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer) error {
	if len(args) > 0 && watch.IsRole(args[0]) {
		return watch.Run(ctx, args[0], args[1:], in, out)
	}
	o, err := parseOptions(args, log)
	if err != nil {
		return err
	}
	b, err := newBench(o, args, out, log)
	if err != nil {
		return err
	}
	return b.run(ctx)
}
