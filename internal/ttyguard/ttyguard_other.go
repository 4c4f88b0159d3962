//go:build !unix

package ttyguard

import (
	"errors"
	"os"
)

// Run is not available on this system.
func Run(_, _ *os.File) (End, error) { return End{}, errors.ErrUnsupported }

// Suspend is not available on this system.
func Suspend() {}

// Shield does nothing, because Run starts no child on this system.
func Shield() {}
