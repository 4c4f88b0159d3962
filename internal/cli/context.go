package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"electop/election/sanitize"
)

// contextEnv is the environment variable with the name of the context. --context overrides it.
const contextEnv = "ELECTOP_CONTEXT"

// ofCluster reports whether the value of a flag depends on the cluster. With a context, only the context and the
// command line set these flags, so that electop sends no token to another cluster.
func ofCluster(name string) bool {
	return environment(name) != "" || slices.Contains([]string{"datacenter", "history", "history-token-file", "history-ca-file"}, name)
}

// inContexts reports whether a context of the config file can set the flag.
func inContexts(name string) bool {
	return ofCluster(name) || selectsKeys(name) || slices.Contains([]string{"stale", "max-watches", "read-only", "keep"}, name)
}

func selectsKeys(name string) bool { return name == "key" || name == "preset" }

// useContext selects the context that the flag or the environment names, and unsets the environment variables of Consul
// and of the history token. It does nothing if no context is named.
func (o *options) useContext() error {
	o.context = cmp.Or(o.context, os.Getenv(contextEnv))
	if o.context == "" {
		return nil
	}
	names := o.settings.contextNames()
	switch {
	case len(names) == 0:
		return usagef("context %q is unknown: the config file has no contexts", sanitize.Line(o.context, 40))
	case !slices.Contains(names, o.context):
		return usagef("context %q is unknown; must be one of %s", sanitize.Line(o.context, 40), strings.Join(names, ", "))
	}
	if err := os.Unsetenv(historyTokenEnv); err != nil {
		return err
	}
	return unsetConsulEnvironment()
}

// inContext returns the options for another context. Flags of the command line remain set unless they depend on the
// cluster or select keys. Parse has checked all values, so no error is possible.
func (o *options) inContext(name string) *options {
	next := &options{}
	flags := next.settable()
	next.settings = o.settings
	next.context = name
	for flag, value := range o.settings.given {
		_ = flags.Set(flag, value)
	}
	_ = os.Unsetenv(historyTokenEnv)
	_ = unsetConsulEnvironment()
	_ = next.applySettings(flags, flags.Changed)
	next.config, next.ascii = o.config, o.ascii
	return next
}

// given returns the flags of the command line that remain set when the user switches the context.
func given(flags *pflag.FlagSet) map[string]string {
	values := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && !ofCluster(f.Name) && !selectsKeys(f.Name) && f.Name != "context" && f.Name != "config" {
			values[f.Name] = f.Value.String()
		}
	})
	return values
}
