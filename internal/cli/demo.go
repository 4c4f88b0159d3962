package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election/sanitize"
	"electop/internal/crash"
	"electop/internal/demo"
	"electop/internal/memconsul"
)

func newDemoCommand(o *options) *cobra.Command {
	var play demo.Options
	var headless bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a demonstration on an in-process agent with simulated failures",
		Long: `Start an in-process agent and services whose candidates compete through its HTTP
API. Simulate failures of the services, and open the dashboard for this agent.`,
		Example: "  electop demo\n  electop demo --every 2s --seed 7\n  electop demo --headless      # in another terminal: electop --http-addr ADDRESS",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, flag := range []string{"key", "http-addr"} {
				if cmd.Flags().Changed(flag) {
					return usagef("demo watches only its own keys on its own agent; remove --%s", flag)
				}
			}
			return runDemo(cmd.Context(), o, play, headless)
		},
	}
	o.view.flags(cmd.Flags())
	f := cmd.Flags()
	f.IntVar(&play.Services, "services", 8, "number of elections")
	f.IntVar(&play.Candidates, "candidates", 3, "candidates per election")
	f.Uint64Var(&play.Seed, "seed", 1, "seed of the simulated failures")
	f.DurationVar(&play.Every, "every", 6*time.Second, "time between two simulated failures")
	f.BoolVar(&headless, "headless", false, "print the simulated failures instead of opening the dashboard")
	return cmd
}

func runDemo(ctx context.Context, o *options, play demo.Options, headless bool) error {
	if err := play.Validate(); err != nil {
		return usagef("%v", err)
	}
	if !headless && !o.interactive {
		return errors.New("the dashboard needs a terminal; without one, use `electop demo --headless`")
	}
	// Consul's environment variables do not apply to the in-process agent.
	unsetEnvironment()
	agent, err := memconsul.Start(memconsul.Config{Datacenter: "demo", NodeName: "electop"})
	if err != nil {
		return err
	}
	defer agent.Close()
	// The dashboard opens as for any agent, with a history that is deleted at the end.
	o.contexts, o.clusterFlags = nil, clusterFlags{consul: consulx.Config{Address: agent.Addr()}, patterns: []string{demo.Prefix + "*/leader"}}
	o.file.Contexts, o.demo = nil, fmt.Sprintf("in-process agent, a simulated failure every %s", play.Every)
	if o.history != historyOff {
		folder, err := os.MkdirTemp("", "electop-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		o.history = filepath.Join(folder, "history.db")
	}
	if play.Client, err = consulx.NewClient(consulx.Config{Address: agent.Addr(), MaxConnections: maxMaxWatches}); err != nil {
		return err
	}
	defer play.Client.Close()
	play.Report = func(line string) { o.log.Info("demo", "failure", line) }
	if headless {
		play.Report = func(line string) {
			fmt.Fprintf(o.stdout, "%s  %s\n", time.Now().Format(time.TimeOnly), sanitize.Line(line, 300))
		}
		fmt.Fprintf(o.stdout, "demo on %s, key pattern %s; ctrl-c ends it\n", agent.Addr(), o.patterns[0])
		return demo.Run(ctx, play)
	}
	ctx, cancel := context.WithCancel(ctx)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer crash.Recover()
		return demo.Run(gctx, play)
	})
	_, err = runContext(gctx, o)
	cancel()
	return cmp.Or(err, g.Wait())
}

// unsetEnvironment unsets the environment variables of Consul, of etcdctl and of the history token.
func unsetEnvironment() {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "CONSUL_") || strings.HasPrefix(name, "ETCDCTL_") || name == historyTokenEnv {
			_ = os.Unsetenv(name)
		}
	}
}
