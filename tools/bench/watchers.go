package main

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// watcher is one way to watch elections.
type watcher struct {
	name    string
	command func(s *stage) []string
	read    func(line []byte) sight
	// skip says why it is not measured with n elections.
	skip func(n int) string
}

// maxPerKey bounds the queries of the watcher that has one a key.
const maxPerKey = 5000

func watchers() []watcher {
	own := func(role string, flags ...string) func(s *stage) []string {
		return func(s *stage) []string {
			return append([]string{s.self, role, "-addr", s.addr(), "-n", strconv.Itoa(s.n)}, flags...)
		}
	}
	return []watcher{
		{name: "electop", command: electopCommand, read: sightOfEvent},
		{name: "recurse", command: own(roleRecurse), read: sightOfLine},
		{name: "recurse-no-gzip", command: own(roleRecurse, "-no-gzip"), read: sightOfLine},
		{name: "perkey", command: own(rolePerKey), read: sightOfLine, skip: func(n int) string {
			if n > maxPerKey {
				return fmt.Sprintf("not measured: it needs a connection for each of %d keys", n)
			}
			return ""
		}},
		{name: "consul-watch", command: consulWatchCommand, read: sightOfLine},
	}
}

// electopCommand is the product itself, or bench's own observer when that is to
// be profiled.
func electopCommand(s *stage) []string {
	if s.o.profile != "" {
		return []string{s.self, roleObserve, "-addr", s.addr(), "-profile", s.o.profile}
	}
	return []string{s.o.electop, "watch", "-o", "json", "--http-addr", s.addr()}
}

func consulWatchCommand(s *stage) []string {
	return []string{
		s.agent.Binary(), "watch", "-http-addr=" + s.addr(), "-type=keyprefix", "-prefix=" + keyPrefix, "-shell=false",
		s.self, roleHandler, filepath.Join(s.dir, fmt.Sprintf("handler-%d", s.changes.last())),
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
