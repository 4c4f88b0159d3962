package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
)

// options are the flags of every command.
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
	f.StringVar(&c.Datacenter, "datacenter", "", "datacenter to query (default: the agent's own)")
	f.StringVar(&c.Namespace, "namespace", "", "namespace, Consul Enterprise (CONSUL_NAMESPACE)")
	f.StringVar(&c.Partition, "partition", "", "admin partition, Consul Enterprise (CONSUL_PARTITION)")
	f.BoolVar(&c.Stale, "stale", false, "allow any server to answer reads, not only Consul's leader")
	f.StringArrayVarP(&o.patterns, "key", "k", nil, "pattern of the keys to watch, repeatable; * matches one segment or part of one, ** any number (default "+election.DefaultPattern+")")
	f.IntVar(&c.MaxConnections, "max-watches", defaultMaxWatches, "maximum number of connections to the agent, 24 to 150; an agent accepts 200 per address")
	f.BoolVar(&o.readOnly, "read-only", false, "forbid every write to Consul: release, destroy, campaign, show --probe")
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII characters only")
	f.StringVar(&o.logFile, "log-file", "", "write a log to this file")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&o.config, "config", "", "config file (default "+defaultConfigText+")")
}

// Bounds of --max-watches: queries other than those for keys need some connections,
// and the agent's limit also applies to other tools on the host.
const (
	defaultMaxWatches = 64
	minMaxWatches     = 24
	maxMaxWatches     = 150
)

// environment returns the environment variable of a flag. It takes precedence over
// the config file.
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

// parsePatterns parses -k. An invalid pattern is a usage error.
func (o *options) parsePatterns() (election.Patterns, error) {
	ps, err := election.ParsePatterns(o.patterns)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return ps, nil
}

// connect returns the client and the patterns of a command. It sends no request.
func (o *options) connect() (*consulx.Client, election.Patterns, error) {
	ps, err := o.parsePatterns()
	if err != nil {
		return nil, nil, err
	}
	if n := o.consul.MaxConnections; n < minMaxWatches || n > maxMaxWatches {
		return nil, nil, usagef("--max-watches %d: want %d to %d", n, minMaxWatches, maxMaxWatches)
	}
	client, err := consulx.NewClient(o.consul)
	return client, ps, err
}

// outputFlag adds -o with the formats of a command; the first is the default.
func outputFlag(cmd *cobra.Command, format *string, formats ...string) {
	cmd.Flags().StringVarP(format, "output", "o", formats[0], "output format: "+strings.Join(formats, " or "))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if slices.Contains(formats, *format) {
			return nil
		}
		return usagef("-o %q: want %s", sanitize.Line(*format, 20), strings.Join(formats, " or "))
	}
	// This fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}
