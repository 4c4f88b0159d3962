// Package faults tests what electop reports while Consul, the network or electop itself fails. The built program
// observes a real Consul through a proxy that injects faults. Its events are compared with a log of every write.
package faults
