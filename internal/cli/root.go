// Package cli implements electop's command line. It connects the model (election),
// Consul (consulx) and the dashboard (ui).
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/election"
)

// deps holds the injectable streams of a command.
type deps struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	// interactive reports whether stdin and stdout are terminals.
	interactive bool
	// commands is set while a second signal ends the process. It is nil if signals have no effect on the context.
	commands *atomic.Bool
	// seen is how long rescue must see that a node check is critical or that an election is idle, or 0 for the defaults.
	seen time.Duration
	// patience multiplies the time that electop has to read a history and to find a cause; 0 counts as 1.
	patience int
}

func (d deps) within(limit time.Duration) time.Duration {
	return limit * time.Duration(max(1, d.patience))
}

// warn writes a message to stderr, in one line: the terminal wraps it, and a command in it can be copied.
func (d deps) warn(line string) { fmt.Fprintln(d.stderr, "electop: "+line) }

// Main runs electop with the arguments, streams and signals of the process and
// returns its exit code.
func Main() int {
	// With a handler for SIGPIPE, a write to a closed pipe returns an error instead of ending the process. Unlike an
	// ignored signal, a handler is not inherited by the programs that electop runs.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	commands := &atomic.Bool{}
	return run(untilSignal(os.Stderr, commands), deps{
		commands: commands, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		interactive: term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()),
	}, os.Args[1:])
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, d deps, args []string) int {
	o := &options{deps: d, file: &configFile{}}
	defer o.close()
	cmd := newRootCommand(o)
	cmd.SetArgs(args)
	cmd.SetIn(o.stdin)
	cmd.SetOut(o.stdout)
	cmd.SetErr(o.stderr)
	err := cmd.ExecuteContext(ctx)
	if errors.Is(err, syscall.EPIPE) {
		return exitOK
	}
	code := reportError(o.stderr, err)
	if errors.Is(err, election.ErrUnreachable) && o.contextHint() != "" {
		o.warn(o.contextHint())
	}
	return code
}

// longHelp is a format string. Its argument is the table of presets.
const longHelp = `electop is "top" for leader elections in Consul and etcd.

It watches the keys with which services elect their leaders, and shows who
leads, with which session, since when, what happened before and why. It releases
locks and destroys sessions without breaking the candidates that wait.

Without a command it opens the dashboard. Flags and environment variables are
those of the Consul command line and, with --endpoints, of etcdctl.

Without -k and --preset, electop watches service/*/leader in Consul and all
queues of candidates in etcd. electop discover finds the locks in the store and
prints the flags that watch them. --preset selects the patterns of common
software:
%s

Exit codes:
  0  success
  1  failure
  2  usage error
  3  no such election
  4  the lock state changed after electop read it (another holder, another term,
     or the key was written without the lock); nothing was written
  5  denied by the store, or unknown token or user
  6  success, but the same leader leads again (drain: a leader on the node)
  7  the election has no leader; nothing was written
A command that acts on several elections exits with the most severe code, in the
order 1, 5, 4, 7, 6, 0.`

// Command returns the command line, from which tools/man makes the manual pages.
func Command() *cobra.Command { return newRootCommand(&options{file: &configFile{}}) }

func newRootCommand(o *options) *cobra.Command {
	var printVersion bool
	cmd := &cobra.Command{
		Use:           "electop",
		Short:         `"top" for leader elections in Consul and etcd`,
		Long:          fmt.Sprintf(longHelp, presetTable()),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          arguments(0, 0),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
				completeFlags(cmd.Root(), o) // takes longer than creating all commands
				return nil
			}
			if printVersion {
				return nil
			}
			if o.commands != nil && cmd.HasParent() && cmd.Name() != "demo" {
				o.commands.Store(true)
			}
			if err := applyConfig(cmd, o); err != nil {
				return err
			}
			o.warnIfReadable()
			if !cmd.Flags().Changed("ascii") && o.file.Flags["ascii"].values == nil {
				o.ascii = !isUTF8(os.Getenv)
			}
			return cmp.Or(checkFlags(cmd), o.checkHistoryURL(), o.validate(), o.openLog())
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if printVersion {
				_, err := io.WriteString(o.stdout, versionLine())
				return err
			}
			return runDashboard(cmd.Context(), o)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v; see %s --help", err, cmd.CommandPath())
	})
	connection := o.register(cmd.PersistentFlags())
	o.view.flags(cmd.Flags())
	cmd.Flags().BoolVar(&printVersion, "version", false, "print the version")
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		connection.VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // only in the help: completion offers them
		_, err := io.WriteString(cmd.OutOrStderr(), usage(cmd))
		return err
	})
	cmd.AddCommand(newSuperviseCommand(o), &cobra.Command{
		Use:   "connection", // the flags that --help omits
		Short: "The flags that select the store and the recorder",
		Long:  connectionHelp + connection.FlagUsagesWrapped(helpWidth),
	})
	for _, command := range []func(*options) *cobra.Command{
		newListCommand, newShowCommand, newWatchCommand, newHistoryCommand, newRecordCommand, newReportCommand,
		newReleaseCommand, newDestroyCommand, newDrainCommand, newCampaignCommand, newWaitCommand, newDrillCommand, newRescueCommand,
		newDoctorCommand, newDiscoverCommand, newDemoCommand, newConfigCommand, newVersionCommand,
	} {
		cmd.AddCommand(command(o))
	}
	return cmd
}

// checkFlags returns a usage error for flags that exclude each other, and for negative durations.
func checkFlags(cmd *cobra.Command) error {
	err := cmd.ValidateFlagGroups()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if d, other := cmd.Flags().GetDuration(f.Name); other == nil && d < 0 {
			err = fmt.Errorf("--%s %s: must be 0 or more", f.Name, d)
		}
	})
	if err != nil {
		return usagef("%v", err)
	}
	return nil
}

// work returns a function that runs the work of a command.
func work(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }
}

// arguments accepts this number of arguments. A command without arguments of its own may have subcommands.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n > most && cmd.HasSubCommands():
			return usagef("unknown command %q; see %s --help", args[0], cmd.CommandPath())
		case n < least || n > most:
			return usagef("wrong number of arguments; the usage is %s", cmd.UseLine())
		}
		return nil
	}
}

// helpWidth is the width of the help in columns. It equals the width of a standard terminal.
const helpWidth = 80

const connectionHelp = `The flags that select the store and the recorder. Every command accepts
them. If a flag that has an environment variable is not given, electop uses the
variable. --max-watches and --history-… exist only in electop; the other flags
are those of the Consul command line or of etcdctl.

With --endpoints, or with ETCDCTL_ENDPOINTS and without an address of Consul,
electop shows the elections in etcd. Its flags are --cacert, --cert, --key-file
(--key of etcdctl), --user and --password; docs/etcd.md describes the rest.

--datacenter dc1,dc2 or all selects several datacenters for the dashboard, list,
show, watch, record, doctor and discover. All other commands need one.

--context sets these flags from a context of the config file. In this case, the
environment variables do not apply. Flags on the command line override the
context. --context consul,etcd selects several contexts for the same commands.

`

// usage returns the part of a command's help that follows the description. It is not a template, because the linker keeps
// all exported methods, several megabytes, of a program that executes one.
func usage(cmd *cobra.Command) string {
	flags := cmd.LocalFlags().FlagUsagesWrapped(helpWidth) // first, because UseLine needs the parents' flags
	text, commands, topics := "Usage:", "", ""
	for _, sub := range cmd.Commands() {
		row := fmt.Sprintf("\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
		if sub.IsAvailableCommand() {
			commands += row
		} else if sub.IsAdditionalHelpTopicCommand() {
			topics += row
		}
	}
	if cmd.Runnable() {
		text += "\n  " + cmd.UseLine()
	}
	if commands != "" {
		commands = "\n\nAvailable Commands:" + commands
		text += "\n  " + cmd.CommandPath() + " [command]"
	}
	if cmd.Example != "" {
		text += "\n\nExamples:\n" + cmd.Example
	}
	if topics != "" {
		topics = "\n\nHelp topics (use electop help TOPIC):" + topics
	}
	text += commands + topics + "\n\nFlags:\n" + flags
	if cmd.HasParent() {
		text += "\nGlobal Flags:\n" + cmd.InheritedFlags().FlagUsagesWrapped(helpWidth)
	}
	return text + "\nFor the connection flags, see electop help connection.\n"
}
