//go:build !linux

package main

import (
	"errors"
	"syscall"
	"time"
)

var errLinuxOnly = errors.New("CPU time, memory and connections of processes can be measured on Linux only")

func dieWithParent() *syscall.SysProcAttr { return nil }

func cpuTime(int) (time.Duration, error) { return 0, errLinuxOnly }

func memory(int) (now, peak int64, err error) { return 0, 0, errLinuxOnly }

func connections(int, int) (int, error) { return 0, errLinuxOnly }
