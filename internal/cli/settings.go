package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"electop/election/sanitize"
	"electop/internal/settings"
	"electop/ui"
)

// allSettings returns all settings of the config file: the flags of settable except --config and --context, under
// their names, and the settings for which no flag exists.
func allSettings() []settings.Setting {
	var all, ofContext []settings.Setting
	(&options{}).settable().VisitAll(func(f *pflag.Flag) {
		if f.Name == "config" || f.Name == "context" {
			return
		}
		s := flagSetting(f)
		all = append(all, s)
		if inContexts(f.Name) {
			ofContext = append(ofContext, s)
		}
	})
	return append(all, columnsSetting(), keysSetting(), commandsSetting(), settings.Setting{
		Name: "contexts", Kind: settings.Named, Fields: ofContext, Example: "production",
		About: "Named clusters. --context NAME, " + contextEnv + " or :ctx NAME selects one; then neither CONSUL_* variables nor the connection settings outside of the context apply.",
	})
}

// settable returns the flags that every command accepts, and --filter and --sort. It sets their variables to the
// default values.
func (o *options) settable() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.register(flags)
	o.view.register(flags, "")
	return flags
}

// flagSetting describes a flag as a setting. The flag itself checks the values.
func flagSetting(f *pflag.Flag) settings.Setting {
	s := settings.Setting{Name: f.Name, About: f.Usage, Allowed: allowedValues()[f.Name], Example: example(f)}
	if f.Name == "theme" {
		s.Aliases = []string{ui.HighContrast}
	}
	switch f.Value.Type() {
	case "bool":
		s.Kind = settings.Bool
	case "stringArray", "stringSlice":
		s.Kind = settings.List
	}
	s.Check = func(values []string) error { return checkFlag(f.Name, values) }
	return s
}

// checkFlag returns the error that a command would return for these values of a flag.
func checkFlag(name string, values []string) error {
	o := &options{}
	flags := o.settable()
	for _, value := range values {
		if err := flags.Lookup(name).Value.Set(value); err != nil {
			return err
		}
	}
	if n := o.consul.MaxConnections; n < minMaxWatches || n > maxMaxWatches {
		return fmt.Errorf("%d: must be from %d to %d", n, minMaxWatches, maxMaxWatches)
	}
	_, err := o.parsePatterns()
	return err
}

// allowedValues returns the allowed values of the flags that accept only fixed values.
func allowedValues() map[string][]string {
	return map[string][]string{"theme": ui.Themes(), "log-level": {"debug", "info", "warn", "error"}}
}

// example returns a value for the template: the default value if the flag has one.
func example(f *pflag.Flag) string {
	switch {
	case f.Name == "key":
		return `["service/*/leader", "!service/test/leader"]`
	case f.Name == "preset":
		return "[vault]"
	case f.Name == "history":
		return "off"
	case f.Name == "filter":
		return `"!state:idle"`
	case f.Name == "sort":
		return "problems"
	case f.DefValue == "" || f.DefValue == "[]":
		return `""`
	}
	return f.DefValue
}

func columnsSetting() settings.Setting {
	return settings.Setting{
		Name: "columns", Kind: settings.List, Allowed: ui.Columns(), Example: "[" + strings.Join(ui.Columns(), ", ") + "]",
		About: "The columns of the elections' table in their order. A narrow window hides some columns.",
	}
}

func keysSetting() settings.Setting {
	s := settings.Setting{
		Name: "keys", Kind: settings.Section, About: "The keys of the dashboard: a key or a list of keys for each action.",
		CheckFields: func(fields []settings.Value) (string, error) {
			_, err := ui.ParseKeys(keysOf(fields))
			if wrong := new(ui.KeyError); errors.As(err, &wrong) {
				return wrong.Action, err
			}
			return "", err
		},
	}
	for _, action := range ui.KeyActions() {
		quoted := make([]string, len(action.Keys))
		for i, name := range action.Keys {
			quoted[i] = fmt.Sprintf("%q", sanitize.Text(name))
		}
		s.Fields = append(s.Fields, settings.Setting{
			Name: action.Name, About: action.About, Kind: settings.List, Example: "[" + strings.Join(quoted, ", ") + "]",
		})
	}
	return s
}
