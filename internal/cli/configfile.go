package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/election/sanitize"
	"electop/internal/settings"
	"electop/ui"
)

const defaultConfigText = "$XDG_CONFIG_HOME/electop/config.yaml"

// fileSettings are the settings of the config file.
type fileSettings struct {
	file    settings.Value
	columns []string
	keys    ui.Keys
	// commands contains the commands that the user has defined. The key ! of the dashboard lists them.
	commands []ui.Command
	// given contains the flags of the command line that remain set when the user switches the context.
	given map[string]string
}

// contextNames lists the contexts in the order of the file.
func (s fileSettings) contextNames() []string {
	var names []string
	if all := s.file.Field("contexts"); all != nil {
		for _, c := range all.Fields {
			names = append(names, c.Name)
		}
	}
	return names
}

// applyConfig sets flags from the config file and the selected context, unless the command line sets them.
// A context overrides the environment, which overrides the rest of the file.
func applyConfig(cmd *cobra.Command, o *options, warn func(cmd *cobra.Command, path string, file settings.Value)) error {
	if ignoresConfig(cmd) {
		return nil
	}
	file, err := o.readSettings()
	if err != nil {
		return err
	}
	warn(cmd, o.configPath(), file)
	flags := cmd.Root().LocalFlags()
	o.settings = fileSettings{file: file, given: given(flags)}
	if err := o.useContext(); err != nil {
		return err
	}
	return o.applySettings(flags, func(name string) bool { return isSet(cmd, name) })
}

// configPath returns the path of the config file. It returns "" if the home directory is unknown.
func (o *options) configPath() string {
	if o.config != "" {
		return o.config
	}
	dir := os.Getenv("XDG_CONFIG_HOME") // this variable has precedence, even on systems with another default folder
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return ""
		}
	}
	return filepath.Join(dir, "electop", "config.yaml")
}

// readSettings reads and checks the config file. A file given with --config must exist; the default
// file need not exist.
func (o *options) readSettings() (settings.Value, error) {
	path := o.configPath()
	text, err := os.ReadFile(path)
	if o.config == "" && (path == "" || errors.Is(err, fs.ErrNotExist)) {
		return settings.Value{}, nil
	}
	if err != nil {
		return settings.Value{}, fmt.Errorf("config file: %w", err)
	}
	file, err := settings.Parse(path, text, allSettings())
	if err != nil {
		return settings.Value{}, usagef("%v", err)
	}
	return file, nil
}

// applySettings stores the columns, keys and commands of the file. It sets the flags that are not set, from the context
// or else from the file.
func (o *options) applySettings(flags *pflag.FlagSet, set func(name string) bool) error {
	values := map[string][]string{}
	for _, v := range o.settings.file.Fields {
		switch v.Name {
		case "contexts":
		case "columns":
			o.settings.columns = v.Texts
		case "keys":
			keys, err := ui.ParseKeys(keysOf(v.Fields))
			if err != nil {
				return err
			}
			o.settings.keys = keys
		case "commands":
			commands, err := commandsOf(v.Fields)
			if err != nil {
				return err
			}
			o.settings.commands = commands
		default:
			if o.context == "" || !ofCluster(v.Name) {
				values[v.Name] = v.Texts
			}
		}
	}
	if all := o.settings.file.Field("contexts"); all != nil && o.context != "" {
		inContext := all.Field(o.context).Fields
		if slices.ContainsFunc(inContext, func(v settings.Value) bool { return selectsKeys(v.Name) }) {
			delete(values, "key")
			delete(values, "preset")
		}
		for _, v := range inContext {
			values[v.Name] = v.Texts
		}
	}
	for name, texts := range values {
		if set(name) {
			continue
		}
		for _, text := range texts {
			if err := flags.Lookup(name).Value.Set(text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// keysOf returns the keys of each action.
func keysOf(fields []settings.Value) map[string][]string {
	keys := map[string][]string{}
	for _, f := range fields {
		keys[f.Name] = f.Texts
	}
	return keys
}

// noWarning prints no warning. In shell completion, a warning would appear in the command line.
func noWarning(*cobra.Command, string, settings.Value) {}

// warnIfReadable warns if other users can read a config file that contains a secret.
func warnIfReadable(cmd *cobra.Command, path string, file settings.Value) {
	if !hasSecret(file) || runtime.GOOS == "windows" { // Windows has no mode bits
		return
	}
	const readableByOthers = 0o044
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&readableByOthers != 0 {
		name := sanitize.Line(path, 200)
		fmt.Fprintf(cmd.ErrOrStderr(), "electop: warning: other users can read %s, which contains a token or password; run chmod 600 %s\n", name, name)
	}
}

func completing(cmd *cobra.Command) bool {
	return cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd
}

// hasSecret reports whether the settings or a context contain a token, or an address that may contain a password.
func hasSecret(v settings.Value) bool {
	switch v.Name {
	case "token":
		return len(v.Texts) > 0 && v.Texts[0] != ""
	case "http-addr", "history":
		return len(v.Texts) > 0 && strings.Contains(v.Texts[0], "@")
	}
	return slices.ContainsFunc(v.Fields, hasSecret)
}

// ignoresConfig reports whether a command reads no config file. Such a command does not use Consul, and works with an
// invalid config file.
func ignoresConfig(cmd *cobra.Command) bool {
	return cmd.Name() == "version" || cmd.HasParent() && (cmd.Parent().Name() == "completion" || cmd.Parent().Name() == "config")
}

// isSet reports whether the command line or the environment has set a flag. token and token-file are two sources of the
// same value.
func isSet(cmd *cobra.Command, name string) bool {
	names := []string{name}
	if name == "token" || name == "token-file" {
		names = []string{"token", "token-file"}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return cmd.Root().LocalFlags().Changed(name) || cmd.Flags().Changed(name) || os.Getenv(environment(name)) != ""
	})
}
