package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// documents returns README.md and docs/*.md.
func documents(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d documents: %v", len(paths), err)
	}
	var all strings.Builder
	for _, path := range append(paths, "../../README.md") {
		text, err := os.ReadFile(path)
		must(t, err)
		all.Write(text)
	}
	return all.String()
}

// offered returns the words that a shell offers after these arguments.
func offered(t *testing.T, args ...string) []string {
	t.Helper()
	var words []string
	for line := range strings.Lines(runPlain(t, append([]string{cobra.ShellCompRequestCmd}, args...)...).must(exitOK).out) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words = append(words, word)
	}
	return words
}

// allCommands returns the commands that electop --help lists, including those that cobra adds.
func allCommands() []*cobra.Command {
	root := newRootCommand(new(options))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return available(root)
}

// available returns a command and the subcommands that its help lists.
func available(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, available(sub)...)
		}
	}
	return all
}

// The lists of flags have a test of their own: help_test.go.
func TestEveryCommandIsInDocumentsHelpAndCompletion(t *testing.T) {
	withoutConfig(t)
	text := documents(t)
	for _, cmd := range allCommands()[1:] {
		parent := path(cmd.Parent())
		if !slices.Contains(offered(t, append(parent, "")...), cmd.Name()) {
			t.Errorf("completion lacks %s", cmd.CommandPath())
		}
		runPlain(t, append(parent, "--help")...).must(exitOK).has("\n  " + cmd.Name() + " ")
		if !regexp.MustCompile(cmd.CommandPath() + `\b`).MatchString(text) {
			t.Errorf("README.md and docs lack %s", cmd.CommandPath())
		}
	}
}

func TestEveryFlagIsInDocumentsAndCompletion(t *testing.T) {
	withoutConfig(t)
	text := documents(t)
	for _, cmd := range allCommands() {
		words := offered(t, append(path(cmd), "--")...)
		completed := func(f *pflag.Flag) {
			if !slices.Contains(words, "--"+f.Name) {
				t.Errorf("completion lacks %s --%s", cmd.CommandPath(), f.Name)
			}
		}
		cmd.InheritedFlags().VisitAll(completed)
		cmd.LocalFlags().VisitAll(completed)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			// A flag that is a setting has the same name in docs/settings.md.
			if !regexp.MustCompile("--" + f.Name + "([^a-z-]|$)|`" + f.Name + "`").MatchString(text) {
				t.Errorf("README.md and docs lack --%s of %s", f.Name, cmd.CommandPath())
			}
		})
	}
}
