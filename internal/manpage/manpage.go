// Package manpage formats the help of a command as a manual page in the man macros
// of roff.
package manpage

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Source describes the documented program.
type Source struct {
	Version string
	Date    string // YYYY-MM-DD, or "" if unknown
}

// Name returns the file name of the page of a command.
func Name(cmd *cobra.Command) string { return title(cmd) + ".1" }

func title(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Commands returns a command and the subcommands that the help lists.
func Commands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, Commands(sub)...)
		}
	}
	return all
}

// Format returns the page of a command. The page describes only the command's own flags; the pages of the parent
// commands describe the inherited flags.
func Format(cmd *cobra.Command, from Source) string {
	var p page
	p.line(".TH %s 1 %s %s %s", quote(strings.ToUpper(title(cmd))), quote(from.Date), quote(from.Version), quote("electop manual"))
	p.heading("NAME")
	p.line(`%s \- %s`, escape(title(cmd)), escape(cmd.Short))
	if cmd.Runnable() {
		p.heading("SYNOPSIS")
		p.line(`.B %s`, quote(cmd.UseLine()))
	}
	p.heading("DESCRIPTION")
	p.text(description(cmd))
	p.flags(cmd.NonInheritedFlags())
	p.commands(cmd)
	if cmd.Example != "" {
		p.heading("EXAMPLES")
		p.verbatim(strings.Split(strings.TrimRight(cmd.Example, "\n"), "\n"))
	}
	p.seeAlso(cmd)
	return p.String()
}

func description(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return cmd.Long
}

type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) heading(title string) { p.line(".SH %s", title) }

// text writes paragraphs. Indented lines are tables and keep their line breaks.
func (p *page) text(text string) {
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			p.line(".PP")
		}
		lines := strings.Split(block, "\n")
		for len(lines) > 0 {
			n := run(lines)
			if indented(lines[0]) {
				p.verbatim(lines[:n])
			} else {
				p.line("%s", escape(strings.Join(lines[:n], "\n")))
			}
			lines = lines[n:]
		}
	}
}

// run counts the lines at the beginning that are indented like the first line.
func run(lines []string) int {
	n := 1
	for n < len(lines) && indented(lines[n]) == indented(lines[0]) {
		n++
	}
	return n
}

func indented(line string) bool { return strings.HasPrefix(line, "  ") }

// columns is the width of an 80-column terminal minus the indentation of a paragraph.
const columns = 80 - 7

// verbatim writes lines unchanged. If a line is wide, all lines begin at the margin, so that a terminal of 80 columns
// does not wrap them.
func (p *page) verbatim(lines []string) {
	p.line(".nf")
	wide := slices.ContainsFunc(lines, func(line string) bool { return utf8.RuneCountInString(line) > columns })
	if wide {
		p.line(".in 0")
	}
	for _, line := range lines {
		p.line("%s", escape(line))
	}
	if wide {
		p.line(".in")
	}
	p.line(".fi")
}

func (p *page) flags(flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.heading("OPTIONS")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB\-\-` + escape(f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB\-` + escape(f.Shorthand) + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + escape(value) + `\fR`
		}
		p.line(".TP")
		p.line("%s", name)
		p.line("%s", escape(usage+standard(f)))
	})
}

// standard returns the text about the default value of a flag, or "" if the default is the zero value.
func standard(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	return " (default " + f.DefValue + ")"
}

func (p *page) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.heading("COMMANDS")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			p.line(".TP")
			p.line("%s", reference(sub))
			p.line("%s", escape(sub.Short))
		}
	}
}

// seeAlso lists the parents of a command, because the command accepts the flags of its parents.
func (p *page) seeAlso(cmd *cobra.Command) {
	var names []string
	for up := cmd.Parent(); up != nil; up = up.Parent() {
		names = append(names, reference(up))
	}
	if len(names) > 0 {
		p.heading("SEE ALSO")
		p.line("%s", strings.Join(names, ",\n"))
	}
}

func reference(cmd *cobra.Command) string { return `\fB` + escape(title(cmd)) + `\fR(1)` }

// escape returns text that roff prints unchanged. Without escapes, roff would replace some characters with typographic
// ones. It would also interpret a line that begins with a dot as a request.
func escape(text string) string {
	escapes := strings.NewReplacer(`\`, `\e`, `-`, `\-`, "`", `\(ga`, `'`, `\(aq`, `^`, `\(ha`, `~`, `\(ti`, `"`, `\(dq`)
	lines := strings.Split(escapes.Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// quote returns text as one argument of a macro.
func quote(text string) string { return `"` + escape(text) + `"` }
