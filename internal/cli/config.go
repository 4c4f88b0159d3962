package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"electop/election/sanitize"
	"electop/internal/settings"
)

func newConfigCommand(d deps, o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Create or check the config file",
		Long: `The config file is ` + defaultConfigText + `,
or the file given with --config. It sets flags by name, the columns and
keys of the dashboard, and contexts: named clusters for --context. Flags
override contexts. Contexts override environment variables. Environment
variables override the rest of the file.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; see electop config --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sub := func(use, short string, run func() error) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: noArgs, RunE: func(*cobra.Command, []string) error { return run() }})
	}
	sub("init", "Write a config file in which all settings are commented out", func() error { return initConfig(d, o) })
	sub("path", "Print the path of the config file", func() error {
		path, err := o.namedConfig()
		if err == nil {
			_, err = fmt.Fprintln(d.stdout, path)
		}
		return err
	})
	sub("check", "Check the config file", func() error { return checkConfig(d, o) })
	return cmd
}

// namedConfig returns the path of the config file.
func (o *options) namedConfig() (string, error) {
	if path := o.configPath(); path != "" {
		return path, nil
	}
	return "", errors.New("the home directory is unknown; use --config")
}

const templateHead = "Settings of electop. Remove the # before a setting to use it. electop config check reports errors; docs/settings.md describes contexts and keys."

// initConfig writes the template, unless the config file exists.
func initConfig(d deps, o *options) error {
	path, err := o.namedConfig()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // only this user may read the file: it may contain a token later
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; it was not changed", sanitize.Line(path, 200))
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings.Template(templateHead, allSettings()))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(d.stdout, "Wrote "+sanitize.Line(path, 200))
	return err
}

// checkConfig reports whether the file and all its contexts are valid.
func checkConfig(d deps, o *options) error {
	path, err := o.namedConfig()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("config file: %w", err)
	}
	if _, err := o.readSettings(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(d.stdout, sanitize.Line(path, 200)+" is valid")
	return err
}
