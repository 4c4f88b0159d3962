package insight_test

import (
	"fmt"
	"testing"

	"electop/election"
	"electop/election/insight"
)

// BenchmarkNodes searches for failed leaders among 10,000 elections of 16 nodes, each with 625 service checks and one
// critical check of another service.
func BenchmarkNodes(b *testing.B) {
	nodes := map[string]election.NodeChecks{}
	var es []*election.Election
	for i := range 10_000 {
		name, node := fmt.Sprint("service-", i), fmt.Sprint("node-", i%16)
		checks := nodes[node]
		checks.Checks = append(checks.Checks, election.Check{ID: "service:" + name, Service: name, Node: node, Status: election.StatusPassing})
		nodes[node] = checks
		es = append(es, &election.Election{Name: name, Exists: true, Pair: election.Pair{Key: name, Session: name},
			Session: &election.Session{ID: name, Name: name, Node: node}})
	}
	for node, checks := range nodes {
		checks.Checks = append(checks.Checks, election.Check{ID: "service:other", Service: "other", Node: node, Status: election.StatusCritical})
		nodes[node] = checks
	}
	for b.Loop() {
		known := insight.NewFailedNodes(nodes)
		for _, e := range es {
			if known.Of(e) != nil {
				b.Fatal("no leader has failed")
			}
		}
	}
}
