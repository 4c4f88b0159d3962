package cli

import (
	"cmp"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/charmbracelet/colorprofile"
)

// defaultWidth is the line width of a plan if the output is not a terminal.
const defaultWidth = 80

// isUTF8 reports whether the locale uses UTF-8. If no locale is set, it returns true, because containers and services
// often have no locale.
func isUTF8(getenv func(string) string) bool {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	if locale == "" {
		return true
	}
	_, charset, _ := strings.Cut(locale, ".")
	charset, _, _ = strings.Cut(charset, "@")
	return strings.EqualFold(strings.ReplaceAll(charset, "-", ""), "utf8")
}

// colourProfile returns the colours of the terminal. Unlike the detection of Bubble Tea, it does not run `tmux info`:
// every colour of electop is in the 256-colour palette.
func colourProfile() colorprofile.Profile {
	p := colorprofile.Env(os.Environ())
	if p < colorprofile.ANSI {
		return p
	}
	return max(p, colorprofile.Terminfo(os.Getenv("TERM")))
}

// keepSignals receives the signals that ctrl-c and ctrl-\ send to the processes of the terminal while it is not in raw
// mode: they must end only a command of the user. If electop ignored them, the command would inherit that.
func keepSignals() (restore func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGQUIT}
	signal.Reset(signals...)
	signal.Notify(make(chan os.Signal, 1), signals...)
	return func() { signal.Reset(signals...) }
}
