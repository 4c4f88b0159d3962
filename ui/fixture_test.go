package ui

import (
	"time"

	"electop/election"
	"electop/ui/internal/uitest"
)

func testNow() time.Time            { return uitest.Now() }
func ago(d time.Duration) time.Time { return testNow().Add(-d) }
func sessionID(n int) string        { return uitest.SessionID(n) }
func passing(node, service, status, output string) []election.Check {
	return uitest.Passing(node, service, status, output)
}
func mixedSnapshot() *election.Snapshot             { return uitest.Mixed() }
func crowd(n int) *election.Snapshot                { return uitest.Crowd(n) }
func hostileSnapshot() *election.Snapshot           { return uitest.Hostile() }
func studiedSnapshot(key string) *election.Snapshot { return uitest.Studied(key) }

func testSession(n int, name, node string, checks ...string) *election.Session {
	return uitest.Session(n, name, node, checks...)
}

func ledElection(n int, name string, k int, since time.Duration) *election.Election {
	return uitest.Led(n, name, k, since)
}

func vacantElection(n int, name string, k int, held, lost, delay time.Duration, cause election.Cause, evidence string) *election.Election {
	return uitest.Vacant(n, name, k, held, lost, delay, cause, evidence)
}

func surroundings(s *election.Snapshot, key string) *election.Surroundings {
	return uitest.Surroundings(s, key)
}
