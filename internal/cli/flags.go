package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/logfile"
)

// options are the flags that every command has.
type options struct {
	consul   consulx.Config
	patterns []string
	readOnly bool
	ascii    bool
	logFile  string
	logLevel string
	config   string
}

func (o *options) register(f *pflag.FlagSet) {
	c := &o.consul
	f.StringVar(&c.Address, "http-addr", "", "address of the Consul agent: host:port, http(s)://… or unix://… (CONSUL_HTTP_ADDR)")
	f.StringVar(&c.Token, "token", "", "ACL token (CONSUL_HTTP_TOKEN)")
	f.StringVar(&c.TokenFile, "token-file", "", "file that holds the ACL token (CONSUL_HTTP_TOKEN_FILE)")
	f.StringVar(&c.CAFile, "ca-file", "", "CA certificate file (CONSUL_CACERT)")
	f.StringVar(&c.CAPath, "ca-path", "", "folder of CA certificates (CONSUL_CAPATH)")
	f.StringVar(&c.ClientCert, "client-cert", "", "client certificate file (CONSUL_CLIENT_CERT)")
	f.StringVar(&c.ClientKey, "client-key", "", "client key file (CONSUL_CLIENT_KEY)")
	f.StringVar(&c.TLSServerName, "tls-server-name", "", "server name to expect in the certificate (CONSUL_TLS_SERVER_NAME)")
	f.StringVar(&c.Datacenter, "datacenter", "", "datacenter to ask, the agent's own by default")
	f.StringVar(&c.Namespace, "namespace", "", "namespace, Consul Enterprise (CONSUL_NAMESPACE)")
	f.StringVar(&c.Partition, "partition", "", "admin partition, Consul Enterprise (CONSUL_PARTITION)")
	f.BoolVar(&c.Stale, "stale", false, "let any server answer reads, not only Consul's leader")
	f.StringArrayVarP(&o.patterns, "key", "k", nil, "pattern of the keys to watch, repeatable; * is one segment or a part of it, ** any number (default "+election.DefaultPattern+")")
	f.IntVar(&c.MaxConnections, "max-watches", defaultMaxWatches, "connections to keep to the agent at most, 24 to 150; an agent serves 200 of one address")
	f.BoolVar(&o.readOnly, "read-only", false, "forbid every write to Consul: release, destroy, campaign, show --probe")
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII characters only")
	f.StringVar(&o.logFile, "log-file", "", "write a log to this file")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&o.config, "config", "", "config file (default "+defaultConfigText+")")
}

// Bounds of --max-watches: enough for the queries beside those for keys, and far
// from the limit that would hit every other tool on the host.
const (
	defaultMaxWatches = 64
	leastMaxWatches   = 24
	mostMaxWatches    = 150
)

// environment names the variable that stands behind a flag: it beats the
// config file.
func environment(flag string) string {
	switch flag {
	case "http-addr":
		return "CONSUL_HTTP_ADDR"
	case "token":
		return "CONSUL_HTTP_TOKEN"
	case "token-file":
		return "CONSUL_HTTP_TOKEN_FILE"
	case "ca-file":
		return "CONSUL_CACERT"
	case "ca-path":
		return "CONSUL_CAPATH"
	case "client-cert":
		return "CONSUL_CLIENT_CERT"
	case "client-key":
		return "CONSUL_CLIENT_KEY"
	case "tls-server-name":
		return "CONSUL_TLS_SERVER_NAME"
	case "namespace":
		return "CONSUL_NAMESPACE"
	case "partition":
		return "CONSUL_PARTITION"
	}
	return ""
}

// parsedPatterns reads -k; a pattern that cannot be read is wrong usage.
func (o *options) parsedPatterns() (election.Patterns, error) {
	ps, err := election.ParsePatterns(o.patterns)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return ps, nil
}

// client sets up the connection without asking anything yet.
func (o *options) client() (*consulx.Client, error) { return consulx.NewClient(o.consul) }

// prepare gives what every command that asks Consul begins with.
func (o *options) prepare() (*consulx.Client, election.Patterns, error) {
	ps, err := o.parsedPatterns()
	if err != nil {
		return nil, nil, err
	}
	if n := o.consul.MaxConnections; n < leastMaxWatches || n > mostMaxWatches {
		return nil, nil, usagef("--max-watches %d: want %d to %d", n, leastMaxWatches, mostMaxWatches)
	}
	client, err := o.client()
	return client, ps, err
}

func (o *options) level() (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return level, usagef("--log-level %q: want debug, info, warn or error", sanitize.Line(o.logLevel, 20))
	}
	return level, nil
}

// logger writes to --log-file; without one nothing is logged. The function that
// comes with it closes the file and reports what it lacks.
func (o *options) logger(d deps) (*slog.Logger, func(), error) {
	level, err := o.level()
	if err != nil {
		return nil, nil, err
	}
	if o.logFile == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	f, err := logfile.Open(o.logFile)
	if err != nil {
		return nil, nil, err
	}
	end := func() {
		if err := f.Close(); err != nil {
			fmt.Fprintf(d.stderr, "electop: %s: %s\n", sanitize.Line(o.logFile, 200), consulx.Describe(err))
		}
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})), end, nil
}

// logEvents writes what happens to the log, on its way to whoever else wants it.
func logEvents(log *slog.Logger) func([]election.Event) {
	return func(events []election.Event) {
		for _, e := range events {
			level := slog.LevelInfo
			if e.Type == election.ConnectionLost {
				level = slog.LevelWarn
			}
			if !log.Enabled(context.Background(), level) {
				continue
			}
			log.Log(context.Background(), level, string(e.Type), "election", sanitize.Line(e.Election, 100),
				"key", sanitize.Line(e.Key, 200), "what", e.Summary())
		}
	}
}

// outputFlag adds -o with the formats that a command knows; the first is the
// default.
func outputFlag(cmd *cobra.Command, into *string, formats ...string) {
	cmd.Flags().StringVarP(into, "output", "o", formats[0], "output format: "+strings.Join(formats, " or "))
	check := func(*cobra.Command, []string) error {
		for _, f := range formats {
			if *into == f {
				return nil
			}
		}
		return usagef("-o %q: want %s", sanitize.Line(*into, 20), strings.Join(formats, " or "))
	}
	cmd.PreRunE = check
	// Only a flag that does not exist can make this fail.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}
