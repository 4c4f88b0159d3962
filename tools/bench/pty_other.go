//go:build !linux

package main

import (
	"os"
	"syscall"
)

func openPTY(uint16, uint16) (control, tty *os.File, err error) { return nil, nil, errLinuxOnly }

func ownTerminal() *syscall.SysProcAttr { return nil }
