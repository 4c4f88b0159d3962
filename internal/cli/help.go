package cli

import (
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

// usageTemplate is the part of a command's help that follows the description.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Available Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasHelpSubCommands}}

Help topics (use electop help TOPIC):{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80}}{{if .HasParent}}
Global Flags:
{{.InheritedFlags.FlagUsagesWrapped 80}}{{end}}
For the connection flags, see electop help connection.
`
