// Package sanitize makes text from Consul safe to print on a terminal. Keys, values,
// names, check output and error bodies are arbitrary bytes that other programs wrote;
// control bytes, escape sequences, bidirectional and zero-width characters must not
// reach the terminal.
package sanitize
