// Package faults holds the tests of what electop reports while Consul, the
// network or electop itself fails. The built program observes a real Consul
// through a proxy that injects faults, and a log of every write decides whether
// its events are true.
package faults
