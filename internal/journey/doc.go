// Package journey tests electop as a user runs it: the built program in a terminal (tmux) with a real Consul agent. The
// tests press keys and read the screen.
package journey
