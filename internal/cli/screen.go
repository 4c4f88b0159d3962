package cli

import (
	"cmp"
	"io"
	"strings"

	"electop/ui"
	"electop/ui/kit"
)

// screenSettings contains the settings of the dashboard's screen.
type screenSettings struct {
	ascii   bool
	theme   string
	columns []string
	keys    ui.Keys
	view    view
	// commands contains the user's commands; configFile is the file to which the user can add commands.
	commands   []ui.Command
	configFile string
	// tokenFile is the file that contains the token, if a flag or the config file selects it.
	tokenFile string
	// context is the name of the current context; "" if no context is selected. contexts contains the names of all contexts.
	context  string
	contexts []string
	switchTo func(name string)
}

func (o *options) screen() screenSettings {
	return screenSettings{
		ascii: o.ascii, theme: o.theme, columns: o.file.Columns.values, keys: o.file.keys, view: o.view,
		commands: o.file.commands, configFile: o.configPath(), tokenFile: o.consul.TokenFile,
		context: o.context, contexts: o.file.contextNames(),
	}
}

// pipeWidth is the width of a page that is not written to a terminal.
const pipeWidth = 1000

// page returns an empty page of the dashboard, for the command line.
func (o *options) page(w io.Writer) *kit.Page {
	page := &kit.Page{Width: cmp.Or(terminalWidth(w), pipeWidth), Sym: kit.Unicode()}
	if o.ascii {
		page.Sym = kit.ASCII()
	}
	return page
}

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
