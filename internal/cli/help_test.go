package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestEveryFlagIsInSomeHelp requires each flag either in the help of its command or in a help topic.
func TestEveryFlagIsInSomeHelp(t *testing.T) {
	w := onMemory(t)
	topic := w.run("help", "connection").must(exitOK).out
	for _, cmd := range available(newRootCommand(new(options))) {
		help := w.run(append(path(cmd), "--help")...).must(exitOK).out
		all := pflag.NewFlagSet("", pflag.ContinueOnError)
		all.AddFlagSet(cmd.LocalFlags())
		all.AddFlagSet(cmd.InheritedFlags())
		all.VisitAll(func(f *pflag.Flag) {
			inHelp, inTopic := describes(help, f), describes(topic, f)
			if inHelp == inTopic {
				t.Errorf("%s --%s must be in exactly one help: --help %v, help connection %v", cmd.CommandPath(), f.Name, inHelp, inTopic)
			}
		})
		has(t, help, "electop help connection")
		long, usage, _ := strings.Cut(help, "\nUsage:\n")
		if i, j := strings.Index(usage, "\nExamples:"), strings.Index(usage, "\nFlags:"); i >= 0 {
			usage = usage[:i] + usage[j:] // users copy examples: they keep their lines
		}
		for line := range strings.Lines(long + "\n" + usage) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
	}
	w.run("--help").must(exitOK).has("  connection  ")
}

// describes reports whether a list of flags contains this one.
func describes(help string, f *pflag.Flag) bool {
	return strings.Contains(help, "\n      --"+f.Name+" ") || strings.Contains(help, "\n  -"+f.Shorthand+", --"+f.Name+" ")
}

// path returns the arguments that run a command.
func path(cmd *cobra.Command) []string { return strings.Fields(cmd.CommandPath())[1:] }
