package consulx

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election/sanitize"
)

// A connection whose other end is gone without a word is noticed after 14 s: the
// kernel asks after 5 s of silence, and three times more. Where a proxy answers
// for Consul, the deadline of the query notices it.
const (
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 3 * time.Second
	keepAliveCount    = 3
)

const (
	dialTimeout  = 5 * time.Second
	idleTimeout  = 90 * time.Second
	tlsHandshake = 5 * time.Second
)

// Config says where Consul is and who asks. What is empty is taken from
// Consul's environment variables, then from Consul's defaults.
type Config struct {
	// Address is host:port, or a URL with the scheme http, https or unix.
	Address       string
	Token         string
	TokenFile     string
	CAFile        string
	CAPath        string
	ClientCert    string
	ClientKey     string
	TLSServerName string
	Datacenter    string
	Namespace     string
	Partition     string
	// Stale lets any server answer reads of the board. Investigations and the
	// operator's reads never are stale.
	Stale bool
	// MaxConnections is how many connections there may be at once, 13 at least;
	// 0 means 64.
	MaxConnections int
}

// Client is a connection to one Consul agent. It may be used by many
// goroutines.
type Client struct {
	*lanes
	api        *api.Client // of the lane that this client sends through
	transport  *http.Transport
	address    string
	datacenter string
	namespace  string
	partition  string
	anonymous  bool
	stale      bool
	secrets    secrets
	buffers    *buffers
}

// NewClient sets up a client the way Consul's CLI does. It sends nothing. The
// token is in no error of this package and in nothing that it logs.
func NewClient(cfg Config) (*Client, error) {
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	conf := api.DefaultConfig()
	target, err := parseTarget(or(cfg.Address, conf.Address), conf.Scheme)
	if err != nil {
		return nil, err
	}
	token, err := findToken(cfg, conf)
	if err != nil {
		return nil, err
	}
	fill(conf, cfg)
	tlsConfig, err := api.SetupTLSConfig(&conf.TLSConfig)
	if err != nil {
		return nil, fmt.Errorf("TLS settings: %w", err)
	}
	conf.Address, conf.Scheme = target.url(), target.scheme
	fromAddress := target.auth()
	secrets := newSecrets(token, append(proxyAuths(), conf.HttpAuth, fromAddress)...)
	if conf.HttpAuth == nil {
		conf.HttpAuth = fromAddress
	}
	// api.NewClient would read the file again and prefer it to a token that
	// was given by name.
	conf.Token, conf.TokenFile = token, ""
	c := &Client{
		address: sanitize.Text(target.shown()), buffers: &buffers{},
		datacenter: cfg.Datacenter, namespace: conf.Namespace, partition: conf.Partition,
		anonymous: token == "", stale: cfg.Stale, secrets: secrets,
	}
	large := make(chan struct{}, 1)
	return c.openLanes(newBudget(cfg.MaxConnections), func(conns int) (*api.Client, *http.Transport, error) {
		transport := newTransport(target, tlsConfig.Clone(), conns)
		watch := &certificateWatch{RoundTripper: transport}
		watch.observe(transport.TLSClientConfig)
		lane := *conf
		lane.HttpClient = &http.Client{Transport: guarded(watch, large), CheckRedirect: refuseRedirect}
		client, err := api.NewClient(&lane)
		return client, transport, err
	})
}

// Address names the agent to people: host:port or the path of a socket, never
// with a user's name or a token.
func (c *Client) Address() string { return c.address }

// Redact replaces the token and passwords in a text, such as a crash report.
func (c *Client) Redact(text string) string { return c.redact(text) }

// API is the client of Consul's own library underneath.
func (c *Client) API() *api.Client { return c.api }

// Close gives idle connections back. The client stays usable.
func (c *Client) Close() {
	for _, lane := range []*Client{c, c.waiting, c.urgent} {
		lane.transport.CloseIdleConnections()
	}
}

// read asks for what the board shows.
func (c *Client) read(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{AllowStale: c.stale}).WithContext(ctx)
}

// consistent asks the leader, which first makes sure that it still is one.
func (c *Client) consistent(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx)
}

func (c *Client) write(ctx context.Context) *api.WriteOptions {
	return (&api.WriteOptions{}).WithContext(ctx)
}

// filtered reports that the answer may lack what the token may not read. Consul
// never says so to an anonymous caller; that everything is denied by default
// is then the only hint.
func (c *Client) filtered(meta *api.QueryMeta) bool {
	return meta.ResultsFilteredByACLs || c.anonymous && meta.DefaultACLPolicy == "deny"
}

// doubtful reports that a key that is missing in the answer may still exist.
// Consul does not always say that it filtered: a query that was blocked when its
// token was revoked answers once more, empty and without a word.
func (c *Client) doubtful(meta *api.QueryMeta) bool {
	return meta.ResultsFilteredByACLs || meta.DefaultACLPolicy == "deny" || !c.anonymous
}

// refuseRedirect keeps the token from other hosts, and a request from another
// key: Consul redirects paths that hold "//" or "..".
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// checkEnvironment refuses what Consul's library would only warn about, on
// standard error and once per client; an unreadable CONSUL_HTTP_SSL_VERIFY even
// switches verification off.
func checkEnvironment() error {
	for _, name := range []string{api.HTTPSSLEnvName, api.HTTPSSLVerifyEnvName} {
		text := os.Getenv(name)
		if _, err := strconv.ParseBool(text); text != "" && err != nil {
			return fmt.Errorf("%s=%s is neither true nor false", name, sanitize.Line(text, 40))
		}
	}
	return nil
}

// findToken takes the first of: the file given, the token given, the file and
// the token of the environment. An empty file is passed over.
func findToken(cfg Config, env *api.Config) (string, error) {
	for _, from := range []struct{ file, token string }{{cfg.TokenFile, cfg.Token}, {env.TokenFile, env.Token}} {
		if from.file != "" {
			text, err := os.ReadFile(from.file)
			if err != nil {
				return "", fmt.Errorf("token file: %w", err)
			}
			if token := strings.TrimSpace(string(text)); token != "" {
				return token, nil
			}
		}
		if from.token != "" {
			return from.token, nil
		}
	}
	return "", nil
}

// proxyAuths are the credentials for HTTP proxies in the environment.
func proxyAuths() []*api.HttpBasicAuth {
	var all []*api.HttpBasicAuth
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		// An address that cannot be read may hold credentials too.
		t, _ := parseTarget(os.Getenv(name), "http")
		all = append(all, t.auth())
	}
	return all
}

func fill(conf *api.Config, cfg Config) {
	conf.Datacenter = cfg.Datacenter
	conf.Namespace = or(cfg.Namespace, conf.Namespace)
	conf.Partition = or(cfg.Partition, conf.Partition)
	t := &conf.TLSConfig
	t.CAFile = or(cfg.CAFile, t.CAFile)
	t.CAPath = or(cfg.CAPath, t.CAPath)
	t.CertFile = or(cfg.ClientCert, t.CertFile)
	t.KeyFile = or(cfg.ClientKey, t.KeyFile)
	t.Address = or(cfg.TLSServerName, t.Address)
}

func or(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// target is an address of Consul taken apart.
type target struct {
	scheme string // http or https
	host   string
	prefix string // of the path, for a reverse proxy
	socket string // path of a unix socket
	user   *url.Userinfo
}

// parseTarget reads an address as Consul's library does, and user:password@ in
// front of the host besides, which that library would take for a part of the
// host and show in its errors.
func parseTarget(address, scheme string) (target, error) {
	t := target{scheme: scheme}
	rest := address
	if before, after, ok := strings.Cut(address, "://"); ok {
		switch before {
		case "http": // never undoes CONSUL_HTTP_SSL
		case "https":
			t.scheme = "https"
		case "unix":
			t.socket = after
			return t, nil
		default:
			return t, fmt.Errorf("address of Consul: unknown scheme %q (http, https or unix)", sanitize.Line(before, 20))
		}
		rest = after
	}
	if host, path, ok := strings.Cut(rest, "/"); ok {
		rest = host
		if path = strings.TrimSuffix(path, "/"); path != "" {
			t.prefix = "/" + path
		}
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		name, password, _ := strings.Cut(rest[:i], ":")
		t.user, rest = url.UserPassword(unescape(name), unescape(password)), rest[i+1:]
	}
	t.host = rest
	if probe, err := url.Parse("http://" + t.host); t.host == "" || err != nil || probe.Host != t.host {
		return t, errors.New("address of Consul: want host:port, http://…, https://… or unix://…")
	}
	return t, nil
}

func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// auth is what the address holds in front of the host, nil if nothing.
func (t target) auth() *api.HttpBasicAuth {
	if t.user == nil {
		return nil
	}
	password, _ := t.user.Password()
	return &api.HttpBasicAuth{Username: t.user.Username(), Password: password}
}

func (t target) shown() string {
	if t.socket != "" {
		return t.socket
	}
	return t.host + t.prefix
}

// url is the address as Consul's library wants it.
func (t target) url() string {
	if t.socket != "" {
		return "localhost"
	}
	return t.scheme + "://" + t.host + t.prefix
}

// loopback reports an agent on this machine.
func (t target) loopback() bool {
	if t.socket != "" {
		return true
	}
	host := (&url.URL{Host: t.host}).Hostname()
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func newTransport(t target, tlsConfig *tls.Config, conns int) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount,
	}}
	dial := dialer.DialContext
	proxy := http.ProxyFromEnvironment
	if t.socket != "" {
		dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", t.socket)
		}
		proxy = nil
	}
	return &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: tlsConfig, TLSHandshakeTimeout: tlsHandshake,
		// Packing a large answer costs more than carrying it over loopback.
		DisableCompression: t.loopback(),
		ForceAttemptHTTP2:  true,
		HTTP2:              &http.HTTP2Config{SendPingTimeout: keepAliveIdle, PingTimeout: keepAliveIdle},
		MaxConnsPerHost:    conns, MaxIdleConns: conns, MaxIdleConnsPerHost: conns,
		IdleConnTimeout: idleTimeout,
	}
}
