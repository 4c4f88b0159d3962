package main

import (
	"slices"
	"time"
)

// spread contains percentiles of latencies, and how many changes were seen.
type spread struct {
	made, seen    int
	p50, p99, max time.Duration
}

// spreadOf summarizes the latencies of the changes that the watcher reported. made is the number of changes that were
// written.
func spreadOf(made int, seen []time.Duration) spread {
	s := spread{made: made, seen: len(seen)}
	if len(seen) == 0 {
		return s
	}
	sorted := slices.Sorted(slices.Values(seen))
	s.p50, s.p99, s.max = percentile(sorted, 50), percentile(sorted, 99), sorted[len(sorted)-1]
	return s
}

// percentile returns the p-th percentile by nearest rank.
func percentile(sorted []time.Duration, p int) time.Duration {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

// median returns the median, or 0 for an empty list.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return percentile(slices.Sorted(slices.Values(all)), 50)
}
