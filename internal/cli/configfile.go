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
	"go.yaml.in/yaml/v3"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/ttyguard"
)

const defaultConfigText = "$XDG_CONFIG_HOME/electop/config.yaml"

// applyConfig sets flags from the config file, unless the command line or the
// environment sets them. The file is YAML with flag names as keys. A file given by
// --config must exist; the default one need not.
func applyConfig(cmd *cobra.Command, o *options) error {
	if ignoresConfig(cmd) {
		return nil
	}
	path, named := o.config, o.config != ""
	if !named {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil //nolint:nilerr // without a home directory there is no default file
		}
		path = filepath.Join(dir, "electop", "config.yaml")
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return fmt.Errorf("config file: %w", err)
	}
	var settings map[string]yaml.Node
	if err := yaml.Unmarshal(text, &settings); err != nil {
		return usagef("config file %s: %v", path, err)
	}
	if !ttyguard.Child() { // the parent has already warned
		warnIfReadable(cmd, path, settings)
	}
	for name, node := range settings {
		if err := applySetting(cmd, name, node); err != nil {
			return usagef("config file %s: %v", path, err)
		}
	}
	return nil
}

// warnIfReadable warns if other users can read a config file that contains a secret.
// Shell completion prints no warning, which would appear in the command line.
func warnIfReadable(cmd *cobra.Command, path string, settings map[string]yaml.Node) {
	if completing(cmd) || !hasSecret(settings) || runtime.GOOS == "windows" { // Windows has no mode bits
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

// hasSecret reports whether the settings contain a token, or a password in the
// address.
func hasSecret(settings map[string]yaml.Node) bool {
	return settings["token"].Value != "" || strings.Contains(settings["http-addr"].Value, "@")
}

// ignoresConfig reports whether a command does not use Consul. It must work with a
// broken config file.
func ignoresConfig(cmd *cobra.Command) bool {
	return cmd.Name() == "version" || cmd.HasParent() && cmd.Parent().Name() == "completion"
}

func applySetting(cmd *cobra.Command, name string, node yaml.Node) error {
	flag := cmd.Root().Flag(name)
	if flag == nil || slices.Contains([]string{"config", "help"}, name) {
		return fmt.Errorf("unknown setting %q", sanitize.Line(name, 40))
	}
	if isSet(cmd, name) {
		return nil
	}
	values, err := settingValues(node)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if name == "key" {
		if _, err := election.ParsePatterns(values); err != nil {
			return fmt.Errorf("key: %w", err)
		}
	}
	for _, value := range values {
		if err := flag.Value.Set(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// isSet reports whether the command line or the environment has set a flag. token and
// token-file set the same thing.
func isSet(cmd *cobra.Command, name string) bool {
	names := []string{name}
	if name == "token" || name == "token-file" {
		names = []string{"token", "token-file"}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return cmd.Flags().Changed(name) || os.Getenv(environment(name)) != ""
	})
}

// settingValues reads one value or a list of values.
func settingValues(node yaml.Node) ([]string, error) {
	if node.Kind == yaml.SequenceNode {
		var values []string
		err := node.Decode(&values)
		return values, err
	}
	var value string
	err := node.Decode(&value)
	return []string{value}, err
}
