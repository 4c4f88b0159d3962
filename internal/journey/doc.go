// Package journey holds tests that use electop as a person does: the built
// binary in a real terminal (tmux), keys pressed and the screen read, on a real
// Consul.
package journey
