package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine and the versions of a measurement in one line.
func machine(ctx context.Context, consul string) string {
	return fmt.Sprintf("%s, %d cores, %s, %s, %s/%s, %s", cpuModel(), runtime.NumCPU(), consulVersion(ctx, consul),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, time.Now().UTC().Format(time.DateOnly))
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	return modelIn(string(text))
}

// modelIn returns the CPU model of a /proc/cpuinfo.
func modelIn(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}

func consulVersion(ctx context.Context, consul string) string {
	out, err := exec.CommandContext(ctx, consul, "version").Output()
	if err != nil {
		return "Consul"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
