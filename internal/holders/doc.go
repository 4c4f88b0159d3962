// Package holders tests the effects of electop's actions on software that holds a lock: Patroni, `consul lock`, Go's
// api.Lock and api.Semaphore, npm's consul package, and a candidate that follows Consul's leader election tutorial.
// docs/actions.md contains the results; `go test -v` prints the times. A test is skipped if its software is not
// installed; with CI=true it fails.
package holders
