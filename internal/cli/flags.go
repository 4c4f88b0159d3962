package cli

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
)

// options contains the values of the flags that several commands share, and the settings of the config file.
type options struct {
	deps
	clusterFlags
	contexts []clusterFlags // of the contexts; nil unless several contexts are selected
	yes      bool           // skips the confirmation
	readOnly bool
	ascii    bool
	theme    string
	logFile  string
	logLevel string
	config   string
	view     view
	history  string // a file, the URL of a recorder, historyOff, or "" for the default file
	keep     keepFlag
	// historyTokenFile and historyCAFile apply only if history is the URL of a recorder.
	historyTokenFile, historyCAFile string
	file                            *configFile
	flags                           *pflag.FlagSet // of the command line
	output                          string         // "json", or the name of the plain format of a command
	written                         error          // the first error of print
	opened
	log  *slog.Logger
	demo string // describes a demonstration; "" outside of one
}

// clusterFlags contains the settings of one cluster, and the keys to read.
type clusterFlags struct {
	context           string // name of a context of the config file, or ""; names separated by commas select several clusters
	consul            consulx.Config
	etcd              etcdFlags
	patterns, presets []string
}

// storeFlag is a string flag that the command line of Consul or etcd also has.
type storeFlag struct {
	value            *string
	name, env, usage string
}

func (o *options) storeFlags() []storeFlag {
	c, e := &o.consul, &o.etcd
	return []storeFlag{
		{&c.Address, "http-addr", "CONSUL_HTTP_ADDR", "address of the Consul agent: host:port, http(s)://… or unix://…"},
		{&c.Token, "token", "CONSUL_HTTP_TOKEN", "ACL token; every user of the host can see it on the command line: prefer --token-file"},
		{&c.TokenFile, "token-file", "CONSUL_HTTP_TOKEN_FILE", "file that contains the ACL token"},
		{&c.CAFile, "ca-file", "CONSUL_CACERT", "CA certificate file"},
		{&c.CAPath, "ca-path", "CONSUL_CAPATH", "directory of CA certificates"},
		{&c.ClientCert, "client-cert", "CONSUL_CLIENT_CERT", "client certificate file"},
		{&c.ClientKey, "client-key", "CONSUL_CLIENT_KEY", "client key file"},
		{&c.TLSServerName, "tls-server-name", "CONSUL_TLS_SERVER_NAME", "server name to expect in the certificate"},
		{&c.Namespace, "namespace", "CONSUL_NAMESPACE", "namespace of Consul Enterprise"},
		{&c.Partition, "partition", "CONSUL_PARTITION", "admin partition of Consul Enterprise"},
		{&e.endpoints, "endpoints", "ETCDCTL_ENDPOINTS", "members of an etcd cluster, separated by commas; electop then shows the elections in etcd"},
		{&e.api, "etcd-api", "ETCDCTL_API", "API of etcd: 3, or 2 for etcd-leader (etcd 3.5 and older)"},
		{&e.CACert, "cacert", "ETCDCTL_CACERT", "CA certificate file for etcd"},
		{&e.Cert, "cert", "ETCDCTL_CERT", "client certificate file for etcd"},
		{&e.Key, "key-file", "ETCDCTL_KEY", "client key file for etcd: --key of etcdctl"},
		{&e.User, "user", "ETCDCTL_USER", "user of etcd, or user:password"},
		{&e.Password, "password", "ETCDCTL_PASSWORD", "password of the user of etcd; every user of the host can see it on the command line"},
	}
}

// register adds the flags that every command accepts, and returns those of them that select the store and the recorder.
// electop help connection describes them.
func (o *options) register(f *pflag.FlagSet) *pflag.FlagSet {
	f.StringVar(&o.context, "context", "", "name of a context of the config file, or a list such as consul,etcd ("+contextEnv+")")
	f.StringVar(&o.config, "config", "", "config file (default "+defaultConfigText+")")
	return o.registerSettings(f)
}

// registerSettings is register without the flags that the config file cannot set.
func (o *options) registerSettings(f *pflag.FlagSet) *pflag.FlagSet {
	connection, c := pflag.NewFlagSet("connection", pflag.ContinueOnError), &o.consul
	for _, flag := range o.storeFlags() {
		connection.StringVar(flag.value, flag.name, "", flag.usage+" ("+flag.env+")")
	}
	connection.StringVar(&c.Datacenter, "datacenter", "", "datacenter, a list such as dc1,dc2, or all (default: the agent's own)")
	connection.BoolVar(&c.Stale, "stale", false, "allow any server to answer reads, not only Consul's leader")
	connection.IntVar(&c.MaxConnections, "max-watches", consulx.DefaultConnections, "maximum number of connections to the agent, 8 to 150; an agent accepts 200 per client address")
	connection.StringVar(&o.historyTokenFile, "history-token-file", "", "file that contains the bearer token for the URL of --history ("+historyTokenEnv+")")
	connection.StringVar(&o.historyCAFile, "history-ca-file", "", "CA certificate file for the URL of --history (default: the CA certificates of the system)")
	f.AddFlagSet(connection)
	f.StringArrayVarP(&o.patterns, "key", "k", nil, "pattern of the keys to watch, repeatable; * matches one segment or part of one, ** any number; !PATTERN excludes keys (default "+election.DefaultPattern+"; for etcd, all queues)")
	presets := election.Map(insight.Presets(), func(p insight.Preset) string { return p.Name })
	f.Var(wordsFlag[string]{&o.presets, presets}, "preset", "watch the keys of this software, like -k with its patterns; repeatable or separated by commas: "+strings.Join(presets, ", "))
	f.BoolVar(&o.readOnly, "read-only", false, "forbid every write: release, destroy, drain, drill, campaign, show --probe, the fixes of rescue")
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII characters only (default: true if the locale is not UTF-8)")
	o.theme = kit.Themes()[0]
	f.Var(wordFlag{&o.theme, kit.Themes()}, "theme", "colours: "+strings.Join(kit.Themes(), ", ")+"; auto is dark or light, like the terminal's background")
	f.StringVar(&o.logFile, "log-file", "", "write a log to this file")
	o.logLevel = "info"
	f.Var(wordFlag{&o.logLevel, []string{"debug", "info", "warn", "error"}}, "log-level", "debug, info, warn or error")
	f.StringVar(&o.history, "history", "", "`FILE` that stores events, terms and actions across restarts, or the URL of electop record, or off (default "+defaultHistoryText+")")
	f.Var(&o.keep, "keep", "age at which events and terms are deleted from the history, such as 12h; 0 for no limit (default 90d)")
	return connection
}

// maxMaxWatches leaves connections of the agent to other programs on the host.
const maxMaxWatches = 150

// environment returns the environment variable of a flag, or "" if the flag has none. The variable overrides the config
// file.
func environment(name string) string {
	for _, flag := range new(options).storeFlags() {
		if flag.name == name {
			return flag.env
		}
	}
	return ""
}

// presetTable returns a table of all presets for a help text.
func presetTable() string {
	var b strings.Builder
	for _, p := range insight.Presets() {
		fmt.Fprintf(&b, "  %-16s %s\n%19s%s\n", p.Name, strings.Join(p.Patterns, " "), "", p.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// selectsKeys reports whether -k or --preset was given.
func (c *clusterFlags) selectsKeys() bool { return len(c.patterns)+len(c.presets) > 0 }

// parsePatterns parses -k and --preset. An invalid pattern is a usage error.
func (c *clusterFlags) parsePatterns(s store) (election.Patterns, error) {
	ps, err := s.Patterns(slices.Concat(c.patterns, insight.PresetPatterns(c.presets)))
	if err != nil {
		return nil, usagef("%v", err)
	}
	return ps, nil
}

// validate checks the flags that do not check themselves.
func (o *options) validate() error {
	if n := o.consul.MaxConnections; n < consulx.LeastConnections || n > maxMaxWatches {
		return usagef("--max-watches %d: must be from %d to %d", n, consulx.LeastConnections, maxMaxWatches)
	}
	_, err := o.parsePatterns(consul{}) // every store has the same syntax
	return err
}

// wordFlag is the value of a flag that accepts one of some words.
type wordFlag struct {
	value *string
	words []string
}

func (f wordFlag) String() string { return *f.value }

func (wordFlag) Type() string { return "string" }

func (f wordFlag) Set(word string) error {
	*f.value = word
	return checkWord(f.words, word)
}

func checkWord[T ~string](words []T, word T) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("must be one of %v", words)
}

func (f wordFlag) complete(string) []string { return f.words }

// wordsFlag is the value of a flag that accepts several of some words, separated by commas. The flag is repeatable.
type wordsFlag[T ~string] struct {
	values *[]T
	words  []T
}

func (wordsFlag[T]) String() string { return "" }

func (wordsFlag[T]) Type() string { return "strings" }

func (f wordsFlag[T]) Set(list string) error {
	for word := range strings.SplitSeq(list, ",") {
		if err := checkWord(f.words, T(word)); err != nil {
			return err
		}
		*f.values = append(*f.values, T(word))
	}
	return nil
}

func (f wordsFlag[T]) complete(prefix string) (offered []string) {
	given := prefix[:strings.LastIndex(prefix, ",")+1]
	for _, word := range f.words {
		if !strings.Contains(","+given, ","+string(word)+",") {
			offered = append(offered, given+string(word))
		}
	}
	return offered
}

// confirmFlags adds the flags of a command that asks before it acts, and then prints results.
func (o *options) confirmFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.yes, "yes", false, "skip the confirmation")
	o.outputFlag(cmd, "text")
}

// outputFlag adds -o, which selects the plain format or JSON.
func (o *options) outputFlag(cmd *cobra.Command, plain string) {
	o.output = plain
	cmd.Flags().VarP(wordFlag{&o.output, []string{plain, "json"}}, "output", "o", "output format: "+plain+" or json")
}
