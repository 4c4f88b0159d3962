// Package holders tests electop's actions on locks of real software: Patroni, `consul lock`, Go's api.Lock and
// api.Semaphore, npm's consul package and the recipe of Consul's guide. docs/actions.md states what they measure; `go
// test -v` prints the times. Tests whose software is not installed are skipped; with CI=true they fail.
package holders
