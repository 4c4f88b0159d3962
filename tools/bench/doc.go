// Bench measures electop against a real Consul: how long a change takes from
// the return of the write to the event out of electop, what it costs electop
// and Consul, and what the same job costs done in other ways.
//
// `make bench` runs it. It starts a Consul server with a data folder, loads as
// many elections as asked for, and then, one watcher after the other, makes
// changes at a steady rate and notes when the watcher tells of each.
//
// What is measured, and how:
//
//   - Every watcher is a process of its own, so that its CPU time and memory are
//     its own. The bench program writes; it watches nothing.
//   - A change is a write with a value that was never used before, so that a
//     watcher's line names the change that it tells of. Nine in ten are the
//     holder writing its key again (`?acquire`); every tenth hands the key to
//     another session in one transaction (-moves). Four in a row go to one key
//     (-flaps): who is too slow for the rate sees the last of them only, and the
//     others count as not seen.
//   - Changes are made at fixed moments, whether the one before was seen or not:
//     a slow server or watcher does not slow down what it is measured with.
//   - The clock of a change starts when the answer to the write has been read
//     and ends when bench has read the watcher's line from a pipe. So the pipe
//     and the scheduler of a shared machine count against the watcher, electop's
//     writing of JSON too. A watcher may be faster than the answer to the write:
//     then the latency is negative, and is shown so.
//   - The handler of `consul watch` stamps the moment at which it has read its
//     input; what it does afterwards to find the change is not held against it.
//   - CPU times are the kernel's for the whole process (CPUCLOCK_SCHED, what
//     /proc/PID/stat shows in hundredths of a second). What writing alone costs
//     the server is measured first, without a watcher, and taken off.
//   - At start-up, ready is the moment at which the last election was told of.
package main
