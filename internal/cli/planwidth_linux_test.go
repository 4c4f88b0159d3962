package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/hashicorp/consul/api"
	"golang.org/x/sys/unix"
)

// openTerminal returns a terminal of this width. text closes it and returns what was written to it.
func openTerminal(t *testing.T, width uint16) (tty *os.File, text func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var number uint32
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if number, err = unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&out, master) // EIO when the terminal is closed
	}()
	return tty, func() string {
		_ = tty.Close()
		<-done
		_ = master.Close()
		return strings.ReplaceAll(out.String(), "\r\n", "\n")
	}
}

// A plan is as wide as the terminal. A key is one word, and words are never broken.
func TestPlansHaveTheWidthOfTheTerminal(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(func(s *api.SessionEntry) { s.LockDelay = 15 * time.Second }), "web-1")
	idle := w.session(nil)
	w.acquire("service/mail/leader", idle, "mail-1")
	w.unlock("service/mail/leader", idle)
	for _, command := range []string{"release web", "destroy web", "rescue mail --dry-run"} {
		for _, width := range []uint16{60, 100, 140} {
			tty, text := openTerminal(t, width)
			d := deps{stdin: strings.NewReader("n\n"), interactive: true, stdout: tty, stderr: tty}
			args := append([]string{"--http-addr", w.addr, "--history", "off"}, strings.Fields(command)...)
			run(context.Background(), d, args)
			shown, widest := text(), 0
			for line := range strings.Lines(shown) {
				line = line[strings.LastIndex(line, "\r")+1:] // the search updates one line
				widest = max(widest, ansi.StringWidth(strings.TrimRight(line, "\n")))
			}
			if widest > int(width) || width > 80 && widest <= 80 {
				t.Errorf("%s at %d columns has lines of %d columns:\n%s", command, width, widest, shown)
			}
		}
	}
}
