package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/consulx"
	"electop/election"
	"electop/ui"
)

// completionTimeout bounds the requests of one completion. With the start of the process, a completion takes at most
// about 300 ms.
const completionTimeout = 250 * time.Millisecond

// completer completes names in a shell. After an error or a timeout, it offers no names.
type completer struct{ o *options }

// list completes with the names that read returns before the timeout, without those that are already arguments.
func (c completer) list(read func(context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if applyConfig(cmd, c.o) != nil { // cobra has parsed the flags only at this point
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		names, err := read(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names = slices.DeleteFunc(matching(names, prefix), func(name string) bool { return slices.Contains(given, name) })
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// matching returns the names that a shell can insert after the prefix.
func matching(names []string, prefix string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) || !needsNoQuotes(name) })
}

// needsNoQuotes reports whether a shell parses the text as one word and electop does not parse it as a flag. Shells
// insert completed names without quotes, and any client of Consul can choose a name.
func needsNoQuotes(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@%+,", r)
	}) < 0
}

// elections completes the names of elections.
func (c completer) elections() cobra.CompletionFunc {
	return c.list(func(ctx context.Context) ([]string, error) {
		ls, err := c.o.open(ctx, deps{stderr: io.Discard})
		if err == nil {
			err = ls.each(func(_ int, l *lookup) error { return l.read(ctx, nil) })
		}
		var names []string
		for _, l := range ls.all {
			for _, e := range l.snapshot.Elections {
				names = append(names, e.Name)
			}
		}
		return names, err
	})
}

// datacenters completes the names of datacenters.
func (c completer) datacenters() cobra.CompletionFunc {
	return c.list(func(ctx context.Context) ([]string, error) {
		c.o.consul.Datacenter = allDatacenters
		names, err := c.o.datacenterNames(ctx)
		return append(names, allDatacenters), err
	})
}

// nodes completes the names of nodes.
func (c completer) nodes() cobra.CompletionFunc {
	return c.list(func(ctx context.Context) ([]string, error) {
		l, err := c.o.openOne(deps{stderr: io.Discard})
		if err != nil {
			return nil, err
		}
		names, err := consulx.Nodes(ctx, l.client)
		if len(names) > 0 {
			err = nil // complete with the nodes that the token can read
		}
		return names, err
	})
}

// history completes the names of elections in the history.
func (c completer) history() cobra.CompletionFunc {
	return c.list(func(ctx context.Context) ([]string, error) {
		f, err := c.o.openHistory(ctx)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		all, err := f.Elections(ctx)
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		return names, err
	})
}

func completeNames(o *options) cobra.CompletionFunc   { return completer{o}.elections() }
func completeNodes(o *options) cobra.CompletionFunc   { return completer{o}.nodes() }
func completeHistory(o *options) cobra.CompletionFunc { return completer{o}.history() }

// first completes the first argument of a command. For all other arguments it returns the directive rest.
func first(complete cobra.CompletionFunc, rest cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, rest
		}
		return complete(cmd, given, prefix)
	}
}

func completing(cmd *cobra.Command) bool {
	return cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd
}

// completeContexts completes the names of contexts, even if the environment selects an unknown context.
func completeContexts(o *options) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		file, err := o.readConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matching(file.contextNames(), prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// oneOf completes one of these words.
func oneOf(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// listOf completes a comma-separated list of these words.
func listOf(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		list := prefix[:strings.LastIndex(prefix, ",")+1]
		given := strings.Split(list, ",")
		var offered []string
		for _, word := range words {
			if !slices.Contains(given, word) {
				offered = append(offered, list+word)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// flagCompletions returns the completion of each flag, by the name of the flag. Flags with free text have no
// completion.
func flagCompletions(o *options) map[string]cobra.CompletionFunc {
	elections, nodes := completer{o}.elections(), completer{o}.nodes()
	complete := map[string]cobra.CompletionFunc{
		"behavior":   oneOf(election.BehaviorRelease, election.BehaviorDelete),
		"cause":      listOf(words(election.Causes())),
		"context":    completeContexts(o),
		"datacenter": completer{o}.datacenters(),
		"exclude":    elections,
		"history":    cobra.FixedCompletions([]string{historyOff}, cobra.ShellCompDirectiveDefault),
		"include":    elections,
		"log-level":  oneOf("debug", "info", "warn", "error"),
		"node":       nodes,
		"preset":     listOf(strings.Split(presetNames(), ", ")),
		"theme":      oneOf(ui.Themes()...),
		"type":       listOf(words(election.EventTypes())),
		"ca-path":    cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	return complete
}

// completeFlags registers the completions of flags with a command and all its subcommands.
func completeFlags(cmd *cobra.Command, complete map[string]cobra.CompletionFunc) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			fn := complete[f.Name]
			if strings.HasSuffix(f.Name, "-file") || slices.Contains([]string{"config", "client-cert", "client-key", "tls-cert", "tls-key"}, f.Name) {
				fn = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
			}
			if fn != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, fn) // fails only if the flag does not exist or already has a completion
			}
		})
	}
	for _, sub := range cmd.Commands() {
		completeFlags(sub, complete)
	}
}
