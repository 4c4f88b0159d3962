// Package insight infers facts that Consul does not record from the data in package election: why an election has no
// leader, which sessions are likely candidates, which software holds the key, which risks its configuration has, and
// what an action causes. The package is pure: it does no I/O, and receives the time as a parameter. Inferences may be
// wrong; the texts mark uncertain statements, for example with "likely" or "probably".
package insight
