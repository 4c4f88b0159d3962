// Man writes the manual pages of electop to a folder: go run ./tools/man DIR. `make share` runs it for the packages.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"electop/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write writes a page for each command and help topic.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for all users
		return err
	}
	root := cli.Command()
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	return writePages(root, dir)
}

func writePages(cmd *cobra.Command, dir string) error {
	toMarkdown(cmd) // before its subcommands, which inherit its flags
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() || sub.Hidden {
			continue
		}
		if err := writePages(sub, dir); err != nil {
			return err
		}
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	f, err := os.Create(filepath.Join(dir, name+".1")) //nolint:gosec // the folder is an argument
	if err != nil {
		return err
	}
	if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "electop", Manual: "electop manual"}, f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// toMarkdown makes the texts of a command Markdown, which doc.GenMan expects: lines that are indented by two spaces are
// tables, and every other character is literal.
func toMarkdown(cmd *cobra.Command) {
	var text strings.Builder
	inTable := false
	for line := range strings.Lines(cmd.Long) {
		if table := strings.HasPrefix(line, "  "); table != inTable && strings.TrimSpace(line) != "" {
			inTable = table
			text.WriteByte('\n')
		}
		if inTable {
			text.WriteString("    " + line)
		} else {
			text.WriteString(literal(line))
		}
	}
	cmd.Short, cmd.Long = literal(cmd.Short), text.String()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = literal(f.Usage) })
}

func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`, "|", `\|`).Replace(text)
}
