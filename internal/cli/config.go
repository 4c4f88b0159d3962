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
	"go.yaml.in/yaml/v3"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/ttyguard"
)

const defaultConfigText = "$XDG_CONFIG_HOME/electop/config.yaml"

// applyConfig fills flags that were neither given nor set by the environment
// from the config file: YAML whose keys are the names of flags. A file that was
// named must exist; the default one need not.
func applyConfig(cmd *cobra.Command, o *options) error {
	if noSettings(cmd) {
		return nil
	}
	path, named := o.config, o.config != ""
	if !named {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil //nolint:nilerr // without a home there is no default file
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
	if !ttyguard.Child() { // its parent has warned
		warnReadable(cmd, path, settings)
	}
	for name, node := range settings {
		if err := applySetting(cmd, name, node); err != nil {
			return usagef("config file %s: %v", path, err)
		}
	}
	return nil
}

// warnReadable warns of a config file that holds a secret and that other users can
// read. Shell completion stays silent: it would write into a command line.
func warnReadable(cmd *cobra.Command, path string, settings map[string]yaml.Node) {
	completing := cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd
	if completing || !holdsSecret(settings) || runtime.GOOS == "windows" { // which has no mode bits
		return
	}
	const others = 0o044
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&others != 0 {
		name := sanitize.Line(path, 200)
		fmt.Fprintf(cmd.ErrOrStderr(), "electop: warning: other users can read %s, which holds a token or password; run chmod 600 %s\n", name, name)
	}
}

// holdsSecret reports a token, or a password in the address.
func holdsSecret(settings map[string]yaml.Node) bool {
	return settings["token"].Value != "" || strings.Contains(settings["http-addr"].Value, "@")
}

// noSettings reports commands that ask Consul nothing and must work with a
// broken file too.
func noSettings(cmd *cobra.Command) bool {
	return cmd.Name() == "version" || cmd.HasParent() && cmd.Parent().Name() == "completion"
}

func applySetting(cmd *cobra.Command, name string, node yaml.Node) error {
	flag := cmd.Root().PersistentFlags().Lookup(name)
	if flag == nil || name == "config" {
		return fmt.Errorf("unknown setting %q", sanitize.Line(name, 40))
	}
	if decided(cmd, name) {
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
		if err := setFlag(flag, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// decided reports whether a flag or the environment settles what a setting is
// about. A token and a file that holds one are two ways to say the same.
func decided(cmd *cobra.Command, name string) bool {
	names := []string{name}
	if name == "token" || name == "token-file" {
		names = []string{"token", "token-file"}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return cmd.Root().PersistentFlags().Changed(name) || os.Getenv(environment(name)) != ""
	})
}

func setFlag(flag *pflag.Flag, value string) error { return flag.Value.Set(value) }

// settingValues reads one value or a list of them.
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
