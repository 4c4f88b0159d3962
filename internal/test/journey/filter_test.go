package journey

import "testing"

// A user types a filter, completes it, sees an error, keeps the filter and clears it.
func TestFiltering(t *testing.T) {
	sizes(t, func(t *testing.T, width, height int) {
		s := newStage(t)
		s.acquire("mail", s.b, "mail-b")
		term := s.open(width, height)
		term.await("2 led", "mail-b", "web-a")
		term.keys("/")
		term.write("state:foo")
		term.await(`unknown state "foo"`, "2 of 2", "mail-b", "web-a")
		term.keys("C-u")
		term.write("le")
		term.await("tab  leader:")
		term.keys("Tab")
		term.write("w")
		term.await("tab  web-a", "1 of 2")
		term.keys("Tab", "Enter")
		term.await("/ leader:web-a", "1 of 2", "web-a")
		term.gone("mail-b")
		term.keys("Escape")
		term.await("mail-b")
		term.keys("/")
		term.write("/^(mail|x)$/")
		term.await("1 of 2")
		term.keys("Up")
		term.await("/ leader:web-a")
		term.keys("Escape")
		term.gone("/ leader:web-a")
		term.keys(":")
		term.write("mai")
		term.await("go mail")
		term.keys("Tab", "Enter")
		term.gone(" : ")
		term.keys("q")
		term.await("left with 0")
	})
}

func TestTheDashboardStartsWithAFilter(t *testing.T) {
	s := newStage(t)
	s.acquire("mail", s.b, "mail-b")
	term := open(t, 80, 24, nil, program, "--http-addr", s.agent.Addr(), "-k", s.prefix+"/*/leader", "--filter", "election:mail", "--sort", "problems")
	term.await("/ election:mail", "1 of 2 elections", "mail-b")
	term.keys("q")
	term.await("left with 0")
}
