// Package faults tests the output of electop while Consul, the network or electop itself fails. The built program
// observes a real Consul through a proxy that injects faults. The tests compare its events with a log of every write.
package faults
