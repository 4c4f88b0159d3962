package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/demo"
	"electop/internal/memconsul"
)

type demoCommand struct {
	d        deps
	o        *options
	play     demo.Options
	headless bool
}

func newDemoCommand(d deps, o *options) *cobra.Command {
	c := &demoCommand{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show elections that fail over, without a Consul",
		Long: `Start an agent inside this process, services whose candidates compete through its
HTTP API as real ones do, and a script of accidents, and open the dashboard on it.

With --http-addr the same is played on a real Consul, under the keys and nodes
that begin with ` + demo.RealPrefix + `, which are removed at the end.`,
		Example: "  electop demo\n  electop demo --every 2s --seed 7\n  electop demo --headless      # then, elsewhere: electop --http-addr ADDRESS",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("key") {
				return usagef("demo has keys of its own: -k says nothing here")
			}
			return c.run(cmd.Context(), cmd.Flags().Changed("http-addr"))
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.play.Services, "services", 8, "number of elections")
	f.IntVar(&c.play.Candidates, "candidates", 3, "candidates of each")
	f.Uint64Var(&c.play.Seed, "seed", 1, "seed of the script of accidents")
	f.DurationVar(&c.play.Every, "every", 6*time.Second, "time between two accidents")
	f.BoolVar(&c.headless, "headless", false, "no screen: print the accidents, for others to watch")
	return cmd
}

func (c *demoCommand) run(ctx context.Context, real bool) error {
	if err := c.play.Validate(); err != nil {
		return usagef("%v", err)
	}
	if !c.headless && !c.d.interactive {
		return errors.New("the dashboard needs a terminal; without one use `electop demo --headless`")
	}
	if c.headless {
		return c.perform(ctx, real)
	}
	return c.d.guard(c.o, func() error { return c.perform(ctx, real) })
}

func (c *demoCommand) perform(ctx context.Context, real bool) error {
	if real {
		c.play.Prefix, c.play.NodePrefix = demo.RealPrefix, strings.ReplaceAll(demo.RealPrefix, "/", "-")
		return c.playOn(ctx, c.o.consul, "on "+sanitize.Line(c.o.consul.Address, 60))
	}
	// Consul's variables are about somebody's real Consul, not about the agent
	// in this process.
	if err := forgetConsulEnvironment(); err != nil {
		return err
	}
	c.play.Prefix = "service/"
	agent, err := memconsul.Start(memconsul.Config{Datacenter: "demo", NodeName: "electop"})
	if err != nil {
		return err
	}
	defer agent.Close()
	return c.playOn(ctx, consulx.Config{Address: agent.Addr()}, "in-process agent")
}

func forgetConsulEnvironment() error {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "CONSUL_") {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// playOn plays the demonstration and shows it until either ends.
func (c *demoCommand) playOn(ctx context.Context, cfg consulx.Config, where string) error {
	client, err := consulx.NewClient(cfg)
	if err != nil {
		return err
	}
	if err := c.reach(ctx, client); err != nil {
		return err
	}
	ps, err := election.ParsePatterns([]string{c.play.Prefix + "*/leader"})
	if err != nil {
		return err
	}
	log, closeLog, err := c.o.logger(c.d)
	if err != nil {
		return err
	}
	defer closeLog()
	c.play.Connect = func() (*consulx.Client, error) { return consulx.NewClient(cfg) }
	c.play.Tell = func(line string) { log.Info("demo", "accident", line) }
	if c.headless {
		c.play.Tell = c.print
		fmt.Fprintf(c.d.stdout, "demo on %s, key pattern %s; ctrl-c ends it\n", client.Address(), ps[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return demo.Run(gctx, c.play) })
	if !c.headless {
		g.Go(func() error {
			defer cancel()
			return openBoard(gctx, c.d, board{
				client: client, patterns: ps, log: log, readOnly: c.o.readOnly, ascii: c.o.ascii,
				demo: fmt.Sprintf("%s, an accident every %s", where, c.play.Every),
			})
		})
	}
	return g.Wait()
}

func (c *demoCommand) reach(ctx context.Context, client *consulx.Client) error {
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	_, err := client.Info(ctx)
	return err
}

func (c *demoCommand) print(line string) {
	fmt.Fprintf(c.d.stdout, "%s  %s\n", time.Now().Format(time.TimeOnly), sanitize.Line(line, 300))
}
