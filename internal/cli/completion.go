package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx/observe"
	"electop/election/sanitize"
)

// completionTimeout keeps a shell responsive.
const completionTimeout = 2 * time.Second

// completeNames completes the names of elections in a shell.
func completeNames(o *options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		client, ps, err := o.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		s, err := observe.Once(ctx, client, ps)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, e := range s.Elections {
			if strings.HasPrefix(e.Name, prefix) && sanitize.Text(e.Name) == e.Name {
				names = append(names, e.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
