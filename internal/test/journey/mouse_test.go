package journey

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// click sends a click on the first occurrence of the text below a line, as a terminal reports the click (SGR).
func (term *terminal) click(text string, below int) {
	term.t.Helper()
	for y, line := range strings.Split(term.screen(), "\n") {
		if before, _, found := strings.Cut(line, text); found && y >= below {
			at := fmt.Sprintf("%d;%d", ansi.StringWidth(before)+2, y+1)
			term.write("\x1b[<0;" + at + "M\x1b[<0;" + at + "m")
			return
		}
	}
	term.t.Fatalf("%q is not on the screen:\n%s", text, term.screen())
}

func TestMouse(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.acquire("mail", s.b, "mail-b")
	term := s.open(80, 24)
	term.await("2 led", "mail-b", "web-a")
	for _, name := range []string{"web", "mail"} {
		term.click("● "+name, 2)
		term.until("the cursor on "+name, func(screen string) bool { return strings.Contains(screen, "▌● "+name) })
	}
	term.click("LEADER", 1)
	term.await("Sorted by leader.")
	term.click("Raw", 3)
	term.await("Indexes")
	term.keys("r")
	term.await("[ Cancel ]", "y release") // this line is drawn last, so the buttons no longer move
	term.click("[ Cancel ]", 3)
	term.gone("[ Cancel ]")
	term.keys("r")
	term.await("  Release  ", "y release")
	term.click("  Release  ", 3)
	term.await("no leader yet")
	if pair := s.get("mail"); pair.Session != "" {
		t.Errorf("the key is still held by %s", pair.Session)
	}
	term.keys("M")
	term.await("Mouse support is off")
	term.keys("q")
	term.await("left with 0")
}
