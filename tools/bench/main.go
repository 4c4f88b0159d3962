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

// run runs the benchmark, or one of the watchers that it starts as separate
// processes.
func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case roleRecurse, rolePerKey, roleObserve:
			return watch(ctx, args[0], args[1:], in, out)
		case roleHandler:
			return handle(in, out, args[1:])
		}
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

// The first argument with which bench starts itself as a watcher or handler.
const (
	roleRecurse = "as-recurse"
	rolePerKey  = "as-perkey"
	roleObserve = "as-observer"
	roleHandler = "as-handler"
)

func watch(ctx context.Context, role string, args []string, in io.Reader, out io.Writer) error {
	f := flag.NewFlagSet(role, flag.ContinueOnError)
	addr := f.String("addr", "", "address of Consul")
	n := f.Int("n", 0, "number of elections")
	plain := f.Bool("no-gzip", false, "request uncompressed responses")
	profile := f.String("profile", "", "folder for profiles")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch role {
	case roleRecurse:
		return recurse(ctx, *addr, *plain, out)
	case rolePerKey:
		return perKey(ctx, *addr, *n, out)
	}
	return observe(ctx, *addr, *profile, in, out)
}
