package cli

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/election/query"
)

// completionTimeout bounds the requests of one completion. With the start of the process, a completion takes at most
// about 300 ms.
const completionTimeout = 250 * time.Millisecond

// completeList completes with the names that read returns before the timeout, without those that are already arguments.
// After an error or a timeout, it offers no names.
func completeList(o *options, read func(context.Context) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if applyConfig(cmd, o) != nil { // cobra has parsed the flags only at this point
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		o.stderr = io.Discard
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

// matching returns the names that a shell can insert after the prefix, parses as one word, and electop does not parse as
// a flag. Shells insert completed names without quotes, and any client of Consul can choose a name.
func matching(names []string, prefix string) []string {
	plain := regexp.MustCompile(`^[\pL\p{Nd}_./:@%+,][-\pL\p{Nd}_./:@%+,]*$`)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) || !plain.MatchString(name) })
}

// completeNames completes the names of elections.
func completeNames(o *options) cobra.CompletionFunc {
	return completeList(o, func(ctx context.Context) (names []string, err error) {
		ls, err := o.readEach(ctx, false)
		for _, l := range ls.all {
			for _, e := range l.snapshot.Elections {
				names = append(names, e.Name)
			}
		}
		return names, err
	})
}

// completeNodes completes the names of the nodes that the token can read.
func completeNodes(o *options) cobra.CompletionFunc {
	return completeList(o, func(ctx context.Context) (names []string, err error) {
		l, err := o.openOne()
		if c := l.client(); c != nil {
			names, _ = c.Nodes(ctx) // the readable nodes
		}
		return names, err
	})
}

// completeHistory completes the names of elections in the history.
func completeHistory(o *options) cobra.CompletionFunc {
	return completeList(o, func(ctx context.Context) (names []string, err error) {
		f, err := o.openHistory(ctx)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		all, err := f.Elections(ctx)
		for _, e := range all {
			names = append(names, e.Name)
		}
		return names, err
	})
}

// first completes the first argument of a command. For all other arguments it returns the directive rest.
func first(complete cobra.CompletionFunc, rest cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, rest
		}
		return complete(cmd, given, prefix)
	}
}

// completeFlags registers the completions of a command's flags and of those of its subcommands. A flag without words or
// names completes files.
func completeFlags(cmd *cobra.Command, o *options) {
	elections := completeNames(o)
	words := func(offer func(prefix string) []string) cobra.CompletionFunc {
		return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return offer(prefix), cobra.ShellCompDirectiveNoFileComp
		}
	}
	names := map[string]cobra.CompletionFunc{
		"context": words(func(prefix string) []string { // even if the environment selects an unknown context
			file, err := o.readConfig()
			if err != nil {
				return nil
			}
			return matching(wordsFlag[string]{words: file.contextNames()}.complete(prefix), prefix)
		}),
		"exclude": elections, "include": elections, "node": completeNodes(o),
		"filter": completeFilter, "sort": cobra.FixedCompletions(query.OrderKeys(), cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		complete := names[f.Name]
		if flag, ok := f.Value.(interface{ complete(prefix string) []string }); ok {
			complete = words(flag.complete)
		}
		if complete != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // fails only if the flag already has a completion
		}
	})
	for _, sub := range cmd.Commands() {
		completeFlags(sub, o)
	}
}
