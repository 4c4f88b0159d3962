package main

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// options are the command-line flags.
type options struct {
	sizes       []int
	rate        float64
	length      time.Duration
	idleChanges int
	moves       int
	flaps       int
	quiet       time.Duration
	watchers    []string
	dashboard   bool
	screen      bool
	against     string
	electop     string
	markdown    string
	profile     string
}

// Limits that prevent a mistyped flag from overloading the machine.
const (
	maxSize   = 1_000_000
	maxRate   = 2000
	maxLength = 10 * time.Minute
	maxIdle   = 10_000
)

func parseOptions(args []string, log io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(log)
	sizes := f.String("sizes", "5,100,1000,10000,100000", "numbers of elections, one table each")
	f.Float64Var(&o.rate, "rate", 50, "changes to write per second")
	f.DurationVar(&o.length, "for", 20*time.Second, "how long to write changes at the rate of -rate")
	f.IntVar(&o.idleChanges, "idle-changes", 100, "number of single changes; each is written after the watcher has reported the previous one")
	f.IntVar(&o.moves, "moves", 10, "transfer the key to another session in every Nth change; 0 disables transfers")
	f.IntVar(&o.flaps, "flaps", 4, "number of consecutive changes to the same key; a slow watcher coalesces them")
	f.DurationVar(&o.quiet, "quiet", 20*time.Second, "how long to measure the dashboard without changes")
	watchers := f.String("watchers", "electop,electop-history,recurse,perkey,consul-watch", "comma-separated watchers to measure, from: "+strings.Join(watcherNames(), ","))
	f.BoolVar(&o.dashboard, "dashboard", true, "also measure the dashboard (needs tmux and curl)")
	f.BoolVar(&o.screen, "screen", false, "measure only the screen: start, key press to screen, and idle CPU, beside an empty Bubble Tea program")
	f.StringVar(&o.against, "against", "", "with -screen, also measure this electop binary")
	f.StringVar(&o.electop, "electop", filepath.Join("bin", "electop"), "path of the electop binary")
	f.StringVar(&o.markdown, "markdown", "", "also write the tables to this Markdown file")
	f.StringVar(&o.profile, "profile", "", "write a CPU and a heap profile of electop's observer to this folder; the observer then runs in a bench process")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err := o.parseLists(*sizes, *watchers); err != nil {
		return o, err
	}
	return o, o.check()
}

func (o *options) parseLists(sizes, watchers string) error {
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > maxSize {
			return fmt.Errorf("-sizes: %q is not a number from 1 to %d", text, maxSize)
		}
		o.sizes = append(o.sizes, n)
	}
	if watchers == "" {
		return nil
	}
	for name := range strings.SplitSeq(watchers, ",") {
		name = strings.TrimSpace(name)
		if _, ok := findWatcher(name); !ok {
			return fmt.Errorf("-watchers %q: must be one of %s", name, strings.Join(watcherNames(), ", "))
		}
		o.watchers = append(o.watchers, name)
	}
	return nil
}

func (o *options) check() error {
	switch {
	case o.rate <= 0 || o.rate > maxRate:
		return fmt.Errorf("-rate: must be greater than 0 and at most %d changes a second", maxRate)
	case o.length <= 0 || o.length > maxLength:
		return fmt.Errorf("-for: must be greater than 0 and at most %s", maxLength)
	case o.idleChanges < 0 || o.idleChanges > maxIdle:
		return fmt.Errorf("-idle-changes: must be from 0 to %d", maxIdle)
	case o.quiet <= 0 || o.quiet > maxLength:
		return fmt.Errorf("-quiet: must be greater than 0 and at most %s", maxLength)
	case o.moves < 0:
		return fmt.Errorf("-moves: must be 0 or more")
	case o.against != "" && !o.screen:
		return fmt.Errorf("-against needs -screen")
	case o.flaps < 1:
		return fmt.Errorf("-flaps: must be 1 or more")
	}
	return nil
}

// changes returns the number of changes in a run at the configured rate.
func (o *options) changes() int { return max(1, int(o.rate*o.length.Seconds())) }
