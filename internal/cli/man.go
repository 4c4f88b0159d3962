package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"electop/internal/manpage"
)

func newManCommand(d deps) *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages",
		Long: `Write a manual page for each command and help topic to the folder DIR, which is
created if necessary. Without DIR, write the page of electop to standard output.`,
		Example: `  electop man | man -l -
  electop man ~/.local/share/man/man1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("man accepts at most one DIR; see electop man --help")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := d.stdout.Write([]byte(manpage.Format(cmd.Root(), manSource())))
				return err
			}
			return writeManPages(cmd.Root(), args[0])
		},
	}
}

func manSource() manpage.Source {
	b := readBuild()
	date := b.date
	if len(date) > len("2006-01-02") {
		date = date[:len("2006-01-02")]
	}
	return manpage.Source{Version: "electop " + b.version, Date: date}
}

func writeManPages(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for all users
		return err
	}
	for _, cmd := range manpage.Commands(root) {
		path := filepath.Join(dir, manpage.Name(cmd))
		if err := os.WriteFile(path, []byte(manpage.Format(cmd, manSource())), 0o644); err != nil { //nolint:gosec // likewise
			return err
		}
	}
	return nil
}
