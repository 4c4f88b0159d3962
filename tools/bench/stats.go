package main

import (
	"slices"
	"time"
)

// spread is how a set of latencies is spread.
type spread struct {
	made, seen    int
	p50, p99, max time.Duration
}

// spreadOf describes the latencies of those of made changes that were seen.
func spreadOf(made int, seen []time.Duration) spread {
	s := spread{made: made, seen: len(seen)}
	if len(seen) == 0 {
		return s
	}
	sorted := slices.Sorted(slices.Values(seen))
	s.p50, s.p99, s.max = percentile(sorted, 50), percentile(sorted, 99), sorted[len(sorted)-1]
	return s
}

// percentile is the smallest value that p of 100 do not exceed (nearest rank).
func percentile(sorted []time.Duration, p int) time.Duration {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

// median is the middle one of a few measurements.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return percentile(slices.Sorted(slices.Values(all)), 50)
}
