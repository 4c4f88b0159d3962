package cli

import (
	"fmt"
	"strings"

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

// usage returns the template for the part of a command's help that follows the description.
func usage(cmd *cobra.Command, connection *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	listCommands(&b, "Available Commands", cmd, (*cobra.Command).IsAvailableCommand)
	listCommands(&b, "Help topics (use electop help TOPIC)", cmd, (*cobra.Command).IsAdditionalHelpTopicCommand)
	listFlags(&b, "Flags", cmd.LocalFlags(), connection)
	listFlags(&b, "Global Flags", cmd.InheritedFlags(), connection)
	b.WriteString("\nFor the connection flags, see electop help connection.\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "For the flags of a command, see %s [command] --help.\n", cmd.CommandPath())
	}
	return b.String()
}

func listCommands(b *strings.Builder, title string, cmd *cobra.Command, included func(*cobra.Command) bool) {
	heading := "\n" + title + ":\n"
	for _, sub := range cmd.Commands() {
		if included(sub) {
			fmt.Fprintf(b, "%s  %-*s %s\n", heading, sub.NamePadding(), sub.Name(), sub.Short)
			heading = ""
		}
	}
}

// listFlags lists the flags, except the connection flags.
func listFlags(b *strings.Builder, title string, flags, connection *pflag.FlagSet) {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		if connection.Lookup(f.Name) == nil {
			shown.AddFlag(f)
		}
	})
	if shown.HasAvailableFlags() {
		fmt.Fprintf(b, "\n%s:\n%s", title, shown.FlagUsagesWrapped(helpWidth))
	}
}
