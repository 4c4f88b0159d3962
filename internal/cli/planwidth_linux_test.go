package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"electop/ui/kit"
)

// A plan is as wide as the terminal.
func TestPlansHaveTheWidthOfTheTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	defer master.Close()
	fd := int(master.Fd())
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0) // otherwise, OpenFile fails
	number, _ := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	defer tty.Close()
	for _, width := range []uint16{60, 120} {
		must(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}))
		must(t, (&options{}).page(tty, defaultWidth, func(page *kit.Page) { page.Para(kit.Text, strings.Repeat("word ", 40)+"end") }))
		shown := make([]byte, 4096)
		n := 0
		for !strings.HasSuffix(string(shown[:n]), "end\r\n") {
			more, err := master.Read(shown[n:])
			must(t, err)
			n += more
		}
		for i, line := range strings.Split(string(shown[:n-2]), "\r\n") {
			if len(line) > int(width) || i == 0 && len(line) <= int(width)-len("word ") {
				t.Errorf("a line of %d columns on a terminal with %d: %q", len(line), width, line)
			}
		}
	}
}
