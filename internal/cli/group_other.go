//go:build !unix

package cli

import "os/exec"

// ownGroup has no process groups to work with here: the command alone is ended.
func ownGroup(*exec.Cmd) {}
