// Package journey tests electop like a user: the built binary in a terminal (tmux) on a
// real Consul, with key presses and the text on the screen.
package journey
