package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of the help in columns. It equals the width of a standard terminal.
const helpWidth = 80

const connectionHelp = `The flags that select the Consul agent and the recorder. Every command accepts
them. If a flag that has an environment variable is not given, electop uses the
variable. --max-watches and --history-… exist only in electop; the other flags
are those of the Consul command line.

--datacenter dc1,dc2 or all selects several datacenters for the dashboard, list,
show, watch, record, doctor and discover. All other commands need one.

--context sets these flags from a context of the config file. In this case, the
environment variables do not apply. Flags on the command line override the
context.

`

// newConnectionTopic returns the help topic about the flags that --help omits.
func newConnectionTopic(connection *pflag.FlagSet) *cobra.Command {
	return &cobra.Command{
		Use:   "connection",
		Short: "The flags that select the Consul agent and the recorder",
		Long:  connectionHelp + connection.FlagUsagesWrapped(helpWidth),
	}
}

// writeUsage writes the part of a command's help that follows the description.
func writeUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	fmt.Fprintln(w, "Usage:")
	if cmd.Runnable() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	list := func(heading string, included func(*cobra.Command) bool) {
		for _, sub := range cmd.Commands() {
			if included(sub) {
				fmt.Fprintf(w, "%s  %-*s %s\n", heading, sub.NamePadding(), sub.Name(), sub.Short)
				heading = ""
			}
		}
	}
	list("\nAvailable Commands:\n", (*cobra.Command).IsAvailableCommand)
	list("\nHelp topics (use electop help TOPIC):\n", (*cobra.Command).IsAdditionalHelpTopicCommand)
	fmt.Fprint(w, "\nFlags:\n", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
	if cmd.HasParent() {
		fmt.Fprint(w, "\nGlobal Flags:\n", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	}
	_, err := fmt.Fprintln(w, "\nFor the connection flags, see electop help connection.")
	return err
}
