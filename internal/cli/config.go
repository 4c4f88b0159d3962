package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"electop/election/sanitize"
	"electop/etcdx"
	"electop/ui"
	"electop/ui/board"
	"electop/ui/keys"
	"electop/ui/pages"
)

const (
	defaultConfigText = "$XDG_CONFIG_HOME/electop/config.yaml"
	// contextEnv is the environment variable with the name of the context. --context overrides it.
	contextEnv = "ELECTOP_CONTEXT"
)

func newConfigCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Create or check the config file",
		Long: `The config file is ` + defaultConfigText + `,
or the file given with --config. It sets flags by name, the columns and
keys of the dashboard, and contexts: named clusters for --context. Flags
override contexts. Contexts override environment variables. Environment
variables override the rest of the file.`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sub := func(use, short, format string, run func(path string) error) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: arguments(0, 0), RunE: func(*cobra.Command, []string) error {
			path := o.configPath()
			if path == "" {
				return errors.New("the home directory is unknown; use --config")
			}
			if err := run(path); err != nil {
				return err
			}
			_, err := fmt.Fprintf(o.stdout, format, clean(path))
			return err
		}})
	}
	sub("init", "Write a config file in which all settings are commented out", "Wrote %s\n", initConfig)
	sub("path", "Print the path of the config file", "%s\n", func(string) error { return nil })
	sub("check", "Check the config file", "%s is valid\n", func(path string) error {
		o.config = path // the file must exist
		_, err := o.readConfig()
		return err
	})
	return cmd
}

// initConfig writes a file with every setting as a comment, unless the file exists.
func initConfig(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // only this user may read the file: it may contain a token later
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; it was not changed", clean(path))
	}
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Settings of electop. Remove the # before a setting to use it. electop config check reports errors.\n")
	new(options).settable().VisitAll(func(f *pflag.Flag) {
		fmt.Fprintf(&b, "\n# %s\n#%s: %s\n", f.Usage, f.Name, cmp.Or(map[string]string{
			"key": `["service/*/leader", "!service/test/leader"]`, "preset": "[vault]", "history": "off", "filter": `"!state:idle"`, "sort": "problems",
		}[f.Name], strings.Trim(f.DefValue, "[]"), `""`))
	})
	fmt.Fprintf(&b, "\n# The columns of the elections' table in their order. A narrow window hides some columns.\n#columns: [%s]\n", strings.Join(board.ColumnNames(), ", "))
	b.WriteString("\n# The keys of the dashboard: a key or a list of keys for each action.\n#keys:\n")
	for _, action := range ui.NewKeys(false, nil).Rows {
		fmt.Fprintf(&b, "#  %s: %q\n", action.Name, strings.Fields(action.Keys)[:1])
	}
	b.WriteString(commandsTemplate + contextsTemplate)
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}

const contextsTemplate = `
# Named clusters. --context NAME, ` + contextEnv + ` or :ctx NAME selects one; then neither CONSUL_* variables nor the
# connection settings outside of the context apply.
#contexts:
#  production:
#    http-addr: https://consul.example:8501
#    key: ["service/*/leader"]
`

// configFile is the content of a config file.
type configFile struct {
	Columns  setting
	Keys     settings
	Commands []yaml.Node
	Contexts map[string]settings
	// Flags contains all other settings. Each has the name of a flag.
	Flags settings `yaml:",inline"`

	keys     map[string][]string
	commands []pages.Command
}

// settings are the values of a section by their names.
type settings map[string]setting

// setting is a list or a single value.
type setting struct {
	line   int // in the file
	values []string
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (s *setting) UnmarshalYAML(node *yaml.Node) error {
	s.line = node.Line
	if node.Kind == yaml.ScalarNode {
		s.values = []string{node.Value}
		return nil
	}
	return node.Decode(&s.values)
}

// errorf returns an error with the line of the setting.
func (s setting) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", s.line, sanitize.Line(fmt.Sprintf(format, args...), 400))
}

// configPath returns the path of the config file. It returns "" if the home directory is unknown.
func (o *options) configPath() string {
	if o.config != "" {
		return o.config
	}
	folder, err := userFolder("XDG_CONFIG_HOME", os.UserConfigDir)
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "config.yaml")
}

// userFolder returns electop's folder in the folder of an environment variable, even on systems with another default. The XDG
// specification ignores relative paths.
func userFolder(variable string, otherwise func() (string, error)) (folder string, err error) {
	if folder = os.Getenv(variable); !filepath.IsAbs(folder) {
		folder, err = otherwise()
	}
	return filepath.Join(folder, "electop"), err
}

// readConfig reads and checks the config file with all its contexts. A file given with --config must exist; the default
// file need not exist.
func (o *options) readConfig() (*configFile, error) {
	path := o.configPath()
	text, err := os.ReadFile(path)
	if o.config == "" && (path == "" || errors.Is(err, fs.ErrNotExist)) {
		return &configFile{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("config file: %w", err)
	}
	file := &configFile{}
	if err = yaml.Unmarshal(text, file); err == nil {
		err = file.check()
	}
	if err != nil {
		return nil, usagef("config file %s: %s", clean(path), sanitize.Line(strings.TrimPrefix(err.Error(), "yaml: "), 500))
	}
	return file, nil
}

func (c *configFile) check() (err error) {
	for _, name := range c.Columns.values {
		if !slices.Contains(board.ColumnNames(), name) {
			return c.Columns.errorf("columns: %q is not valid; must be one of %s", name, strings.Join(board.ColumnNames(), ", "))
		}
	}
	custom := map[string][]string{}
	for action, key := range c.Keys {
		custom[action] = key.values
	}
	if c.keys, err = ui.ParseKeys(custom); err != nil {
		wrong := new(keys.Error)
		errors.As(err, &wrong)
		return c.Keys[wrong.Action].errorf("keys.%v", err)
	}
	if c.commands, err = parseCommands(c.Commands); err != nil {
		return err
	}
	if err := c.Flags.check("", func(string) bool { return true }); err != nil {
		return err
	}
	for _, name := range c.contextNames() {
		if name == "" || sanitize.Line(name, 40) != name || strings.Contains(name, ",") {
			return fmt.Errorf("contexts.%s: the name must have 1 to 40 visible characters, and no comma", sanitize.Line(name, 40))
		}
		if err := c.Contexts[name].check("contexts."+name+".", func(name string) bool {
			return ofCluster(name) || selectsKeys(name) || slices.Contains([]string{"stale", "max-watches", "read-only", "keep"}, name)
		}); err != nil {
			return err
		}
	}
	return nil
}

// check returns the error that a command would return for these flags.
func (s settings) check(where string, allowed func(name string) bool) error {
	o := &options{}
	flags := o.settable()
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if allowed(f.Name) {
			known = append(known, f.Name)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(s)) {
		v := s[name]
		if !slices.Contains(known, name) {
			return v.errorf("unknown setting %q; must be one of %s", where+name, strings.Join(known, ", "))
		}
		if len(v.values) == 0 || !selectsKeys(name) && len(v.values) > 1 {
			return v.errorf("%s%s: must have one value", where, name)
		}
		if err := errors.Join(s.set(flags.Lookup(name)), o.validate()); err != nil {
			return v.errorf("%s%s: %v", where, name, err)
		}
	}
	if s["endpoints"].values != nil && s["http-addr"].values != nil {
		return s["endpoints"].errorf("%sendpoints: excludes http-addr", where)
	}
	return nil
}

// set sets a flag to the values of its setting.
func (s settings) set(f *pflag.Flag) error {
	for _, text := range s[f.Name].values {
		if err := f.Value.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// contextNames returns the names of the contexts in alphabetical order.
func (c *configFile) contextNames() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// contextHint names the contexts to a user of an unreachable Consul. It is empty if one is used or there is none.
func (o *options) contextHint() string {
	names := o.file.contextNames()
	if o.context != "" || len(names) == 0 {
		return ""
	}
	return "the config file has the contexts " + clean(strings.Join(names, ", ")) + ": use --context, or :ctx in the dashboard"
}

// settable returns the flags that the config file can set: those that every command accepts, and --filter and --sort.
// It sets their variables to the default values.
func (o *options) settable() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.registerSettings(flags)
	o.view.flags(flags)
	return flags
}

// applyConfig sets flags from the config file and the selected context, unless the command line sets them.
// A context overrides the environment, which overrides the rest of the file.
func applyConfig(cmd *cobra.Command, o *options) (err error) {
	if cmd.Name() == "version" || cmd.HasParent() && (cmd.Parent().Name() == "completion" || cmd.Parent().Name() == "config") {
		return nil // such a command does not use Consul, and works with an invalid config file
	}
	if o.file, err = o.readConfig(); err != nil {
		return err
	}
	o.flags = cmd.Root().LocalFlags()
	if err := o.useContext(); err != nil {
		return err
	}
	err = o.applySettings(func(name string) bool { return isSet(cmd, name) })
	if names := strings.Split(o.context, ","); err == nil && len(names) > 1 {
		return o.selectStores(cmd, names)
	}
	return cmp.Or(err, o.selectStore(cmd))
}

// selectStores reads the settings of several contexts. --read-only applies to all if one context sets it.
func (o *options) selectStores(cmd *cobra.Command, names []string) error {
	for _, f := range o.storeFlags() {
		if *f.value != "" {
			return usagef("--%s and several contexts are mutually exclusive", f.name)
		}
	}
	for _, name := range names {
		in := o.inContext(name)
		in.consul.Name, in.etcd.Name = name, etcdx.Name(name)
		if isSet(cmd, "key") {
			in.patterns, in.presets = o.patterns, o.presets
		}
		if severalDatacenters(in.consul) {
			return usagef("context %s selects several datacenters; use it without other contexts", name)
		}
		if err := in.selectStore(cmd); err != nil {
			return err
		}
		o.contexts, o.readOnly = append(o.contexts, in.clusterFlags), o.readOnly || in.readOnly
	}
	return nil
}

// selectStore reads the environment variables of etcdctl, unless an address of Consul is given. Consul's library reads
// those of Consul.
func (o *options) selectStore(cmd *cobra.Command) (err error) {
	consulSet := o.consul.Address != "" || os.Getenv(environment("http-addr")) != ""
	for _, f := range o.storeFlags() {
		if ofEtcd(f.name) && (o.etcd.endpoints != "" || !consulSet) && *f.value == "" && !cmd.Flags().Changed(f.name) {
			*f.value = os.Getenv(f.env)
		}
	}
	inEtcd, why := o.etcd.endpoints != "", lacksInEtcd(cmd.Name())
	switch {
	case inEtcd && o.consul.Address != "":
		return usagef("--endpoints and --http-addr are mutually exclusive")
	case inEtcd && why != "":
		return usagef("%s: %s", cmd.Name(), why)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch why := lacksInEtcd(f.Name); {
		case inEtcd && why != "":
			err = usagef("--%s: %s", f.Name, why)
		case !inEtcd && ofEtcd(f.Name):
			err = usagef("--%s: the address of etcd is missing; use --endpoints", f.Name)
		}
	})
	return err
}

// applySettings sets the flags that are not set, from the context or else from the rest of the file.
func (o *options) applySettings(isSet func(name string) bool) error {
	values := settings{}
	maps.Copy(values, o.file.Flags)
	if o.context != "" {
		context := o.file.Contexts[o.context]
		maps.DeleteFunc(values, func(name string, _ setting) bool {
			return ofCluster(name) || selectsKeys(name) && (context["key"].values != nil || context["preset"].values != nil)
		})
		maps.Copy(values, context)
	}
	for name := range values {
		if isSet(name) {
			continue
		}
		if err := values.set(o.flags.Lookup(name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// isSet reports whether the command line or the environment has set a flag, or another flag that replaces it.
func isSet(cmd *cobra.Command, name string) bool {
	names := []string{name}
	for _, same := range [][]string{{"token", "token-file"}, {"key", "preset"}, {"http-addr", "endpoints"}} {
		if slices.Contains(same, name) {
			names = same
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return cmd.Flags().Changed(name) || os.Getenv(environment(name)) != "" })
}

// warnIfReadable warns if other users can read a config file that contains a token or an address with a password.
func (o *options) warnIfReadable() {
	path := o.configPath()
	secret := func(s settings) bool {
		text := func(name string) string { return strings.Join(s[name].values, "") }
		return text("token")+text("password") != "" || strings.Contains(text("http-addr")+text("history"), "@") || strings.Contains(text("user"), ":")
	}
	if runtime.GOOS == "windows" || !secret(o.file.Flags) && !slices.ContainsFunc(slices.Collect(maps.Values(o.file.Contexts)), secret) {
		return // Windows has no mode bits
	}
	const readableByOthers = 0o044
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&readableByOthers != 0 {
		path = clean(path)
		o.warn("warning: other users can read " + path + ", which contains a token or password; run chmod 600 " + path)
	}
}

// ofCluster reports whether the value of a flag depends on the cluster. With a context, only the context and the
// command line set these flags, so that electop sends no token to another cluster.
func ofCluster(name string) bool {
	return environment(name) != "" || slices.Contains([]string{"datacenter", "history", "history-token-file", "history-ca-file"}, name)
}

func ofEtcd(name string) bool { return strings.HasPrefix(environment(name), "ETCDCTL_") }

func selectsKeys(name string) bool { return name == "key" || name == "preset" }

// useContext selects the contexts that the flag or the environment names, and unsets the environment variables of Consul
// and of the history token. It does nothing if no context is named.
func (o *options) useContext() error {
	o.context = cmp.Or(o.context, os.Getenv(contextEnv))
	if o.context == "" {
		return nil
	}
	chosen := strings.Split(o.context, ",")
	slices.Sort(chosen)
	for _, name := range chosen {
		if names := o.file.contextNames(); !slices.Contains(names, name) {
			return usagef("context %q is unknown; the config file has the contexts %s", sanitize.Line(name, 40), cmp.Or(strings.Join(names, ", "), "none"))
		}
	}
	o.context = strings.Join(slices.Compact(chosen), ",")
	unsetEnvironment()
	return nil
}

// inContext returns the options for another context. Flags of the command line remain set unless they depend on the
// cluster or select keys. readConfig has checked all values, so no error is possible.
func (o *options) inContext(name string) *options {
	next := &options{deps: o.deps, file: o.file}
	next.flags = next.settable()
	next.context = name
	o.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && !ofCluster(f.Name) && !selectsKeys(f.Name) {
			_ = next.flags.Set(f.Name, f.Value.String()) // ignores --config and --context
		}
	})
	unsetEnvironment()
	_ = next.applySettings(next.flags.Changed)
	next.config, next.ascii, next.log, next.view = o.config, o.ascii, o.log, o.view // no context sets the view
	return next
}
