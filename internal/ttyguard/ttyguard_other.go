//go:build !unix

package ttyguard

import (
	"errors"
	"os"
)

// Run returns [errors.ErrUnsupported] on this system.
func Run(_, _ *os.File) (End, error) { return End{}, errors.ErrUnsupported }

// Suspend does nothing on this system.
func Suspend() {}

// Shield does nothing, because Run starts no child on this system.
func Shield() {}
