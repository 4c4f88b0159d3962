package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	observation "electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/feed"
)

// Lines on the standard input of an Observer that start and stop its profile.
const (
	ProfileStart = "start"
	ProfileStop  = "stop"
)

// observe does the same work as `electop watch -o json`, in a process of bench that can be profiled.
func observe(ctx context.Context, addr, profile string, in io.Reader, out io.Writer) error {
	client, err := consulx.NewClient(consulx.Config{Address: addr})
	if err != nil {
		return err
	}
	patterns, err := election.ParsePatterns(nil)
	if err != nil {
		return err
	}
	lines := make(chan []election.Event, 1<<16)
	observer := observation.New(client, feed.Options{
		Patterns: patterns, OnEvents: func(events []election.Event) { lines <- events },
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		observer.Run(ctx)
		return nil
	})
	g.Go(func() error { return writeEvents(ctx, lines, out) })
	// keepProfile returns when the parent process closes the input.
	go func() { defer cancel(); _ = keepProfile(in, profile) }()
	return ignoreCancel(g.Wait())
}

func ignoreCancel(err error) error {
	if err == context.Canceled { //nolint:errorlint // it is never wrapped here
		return nil
	}
	return err
}

func writeEvents(ctx context.Context, lines <-chan []election.Event, out io.Writer) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case events := <-lines:
			for _, e := range events {
				text, err := json.Marshal(e)
				if err != nil {
					return err
				}
				if _, err := out.Write(append(sanitize.JSON(text), '\n')); err != nil {
					return err
				}
			}
		}
	}
}

// keepProfile writes cpu.prof and heap.prof for the time between the lines start and stop.
func keepProfile(in io.Reader, dir string) error {
	scanner := bufio.NewScanner(in)
	var file *os.File
	for scanner.Scan() {
		switch scanner.Text() {
		case ProfileStart:
			var err error
			if file, err = os.Create(filepath.Join(dir, "cpu.prof")); err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(file); err != nil {
				return err
			}
		case ProfileStop:
			pprof.StopCPUProfile()
			if err := file.Close(); err != nil {
				return err
			}
			if err := writeHeap(filepath.Join(dir, "heap.prof")); err != nil {
				return err
			}
		}
	}
	return scanner.Err()
}

func writeHeap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC()
	if err := pprof.WriteHeapProfile(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
