package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"electop/tools/bench/internal/watch"
)

// watcher is one program that watches elections.
type watcher struct {
	name    string
	command func(s *fixture) []string
	read    func(line []byte) watch.Line
	// skip returns why the watcher cannot be measured with n elections, or "".
	skip func(n int) string
}

// maxPerKey is the maximum number of keys for the watcher with one query per key.
const maxPerKey = 5000

func watchers() []watcher {
	own := func(role string, flags ...string) func(s *fixture) []string {
		return func(s *fixture) []string {
			return append([]string{s.self, role, "-addr", s.addr(), "-n", strconv.Itoa(s.n)}, flags...)
		}
	}
	return []watcher{
		{name: "electop", command: electopCommand("off"), read: watch.ParseEvent},
		{name: "electop-history", command: electopCommand("history.db"), read: watch.ParseEvent},
		{name: "recurse", command: own(watch.Recurse), read: watch.ParseLine},
		{name: "recurse-no-gzip", command: own(watch.Recurse, "-no-gzip"), read: watch.ParseLine},
		{name: "perkey", command: own(watch.PerKey), read: watch.ParseLine, skip: func(n int) string {
			if n > maxPerKey {
				return fmt.Sprintf("not measured: the watcher would need %d connections; the maximum is %d", n, maxPerKey)
			}
			return ""
		}},
		{name: "consul-watch", command: consulWatchCommand, read: watch.ParseLine},
	}
}

// electopCommand returns the command line of `electop watch`. history is the name of the history file in the fixture's
// folder, or "off". With -profile, electopCommand returns the command line of bench's own observer instead.
func electopCommand(history string) func(s *fixture) []string {
	return func(s *fixture) []string {
		if s.o.profile != "" {
			return []string{s.self, watch.Observer, "-addr", s.addr(), "-profile", s.o.profile}
		}
		path := history
		if path != "off" {
			path = filepath.Join(s.dir, path)
		}
		return []string{s.o.electop, "watch", "-o", "json", "--http-addr", s.addr(), "--history", path}
	}
}

func consulWatchCommand(s *fixture) []string {
	return []string{
		s.agent.Binary(), "watch", "-http-addr=" + s.addr(), "-type=keyprefix", "-prefix=" + watch.KeyPrefix, "-shell=false",
		s.self, watch.Handler, filepath.Join(s.dir, fmt.Sprintf("handler-%d", s.changes.last())),
	}
}

func watcherNames() []string {
	all := watchers()
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = w.name
	}
	return names
}

func findWatcher(name string) (watcher, bool) {
	for _, w := range watchers() {
		if w.name == name {
			return w, true
		}
	}
	return watcher{}, false
}
