//go:build !unix

package cli

// canSuspend returns false, because this system has no stop signals.
func canSuspend() bool { return false }
