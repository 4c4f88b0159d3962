// Package consulx connects electop to Consul. It contains a client that is configured like Consul's own CLI, an
// [Operator] that releases keys and destroys sessions, and one-shot reads ([Doctor], [Survey], [Holdings]). A session
// cannot be destroyed conditionally: [Operator.DestroySession] reads the session immediately before the destroy, but
// the session's state may still change.
package consulx

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/redact"
)

// Config contains the address and the credentials. If a field is empty, Consul's environment variable for it applies,
// or the default if the variable is not set.
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
	// Name, if not empty, is what elections contain as the name of the datacenter.
	Name string
	// Stale allows any server to respond to reads for the board. Reads for an explanation or an action are never stale.
	Stale bool
	// MaxConnections limits the concurrent connections. The minimum is [LeastConnections]; 0 means [DefaultConnections].
	MaxConnections int
	// Transport, if not nil, sends all requests. Otherwise, electop opens network connections.
	Transport http.RoundTripper
}

// Client is a connection to one Consul agent, safe for concurrent use.
type Client struct {
	*clients
	api        *api.Client // client of Consul's library; uses the same connections
	http       *http.Client
	endpoint   *url.URL
	token      string
	auth       *api.HttpBasicAuth
	address    string
	name       string
	datacenter string
	namespace  string
	partition  string
	anonymous  bool
	// buffers contains reusable buffers for responses. Without them, a change among 10,000 elections takes a third
	// more CPU time.
	buffers *sync.Pool
	stale   bool
	// consistent is set for a client whose reads are all consistent.
	consistent bool
	flags      [][2]string
	secrets    redact.Secrets
}

// NewClient configures a client like Consul's CLI. It sends no request. No error or log line of this package contains
// the token.
func NewClient(cfg Config) (*Client, error) {
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	conf := api.DefaultConfig()
	target, err := parseAddress(cmp.Or(cfg.Address, conf.Address), conf.Scheme)
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
	conf.Address, conf.Scheme = target.endpoint().String(), target.endpoint().Scheme
	fromAddress := target.Auth()
	secrets := redact.New(append(passwords(conf.HttpAuth, fromAddress), token)...)
	if conf.HttpAuth == nil {
		conf.HttpAuth = fromAddress
	}
	// api.NewClient would read the token file again and use it instead of an explicit token.
	conf.Token, conf.TokenFile = token, ""
	c := &Client{
		buffers: &sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }},
		address: sanitize.Text(target.Host + target.Path), endpoint: target.endpoint(), token: token, auth: conf.HttpAuth,
		name: cfg.Name, datacenter: cfg.Datacenter, namespace: conf.Namespace, partition: conf.Partition,
		anonymous: token == "", stale: cfg.Stale, secrets: secrets, flags: flagsOf(target, conf),
	}
	return c.openClients(cfg.MaxConnections, func(view *Client, conns int) (err error) {
		transport := cfg.Transport
		if transport == nil {
			transport = newTransport(target, tlsConfig.Clone(), conns)
		}
		view.http = &http.Client{Transport: agentTransport{transport}, CheckRedirect: refuseRedirect, Timeout: requestTimeout}
		own := *conf
		own.HttpClient = view.http
		view.api, err = api.NewClient(&own)
		return err
	})
}

// Address returns host:port or the path of a socket, without credentials.
func (c *Client) Address() string { return c.address }

// Flags returns the names and values of the flags of Consul's CLI that select the same Consul, also where the values come
// from environment variables. They contain no token and no password.
func (c *Client) Flags() [][2]string { return c.flags }

func flagsOf(target agentAddress, conf *api.Config) [][2]string {
	t, address := &conf.TLSConfig, target.endpoint().String() // without credentials
	if target.Scheme == unixScheme {
		address = "unix://" + target.Path
	}
	return [][2]string{
		{"http-addr", address}, {"datacenter", conf.Datacenter}, {"partition", conf.Partition}, {"namespace", conf.Namespace},
		{"ca-file", t.CAFile}, {"ca-path", t.CAPath}, {"client-cert", t.CertFile}, {"client-key", t.KeyFile}, {"tls-server-name", t.Address},
	}
}

// Redact replaces the token and passwords in text, such as a crash report.
func (c *Client) Redact(text string) string { return c.secrets.Redact(text) }

// API returns the underlying client of Consul's library.
func (c *Client) API() *api.Client { return c.api }

// Consistently returns the same client for explanations and actions: all its reads are consistent.
func (c *Client) Consistently() *Client {
	exact := *c
	exact.stale, exact.consistent = false, true
	return &exact
}

// Stale reports whether any server may respond to reads.
func (c *Client) Stale() bool { return c.stale }

// Anonymous reports whether no token is configured.
func (c *Client) Anonymous() bool { return c.anonymous }

// Datacenter returns the configured name, or else the configured datacenter. "" means the agent's own datacenter.
func (c *Client) Datacenter() string { return cmp.Or(c.name, c.datacenter) }

// Close closes the idle connections of all clients. The client remains usable.
func (c *Client) Close() {
	for _, client := range []*Client{c.short, c.waiting, c.urgent} {
		client.http.CloseIdleConnections()
	}
}

// Read returns the options for ordinary reads: a stale response is allowed if the client is configured for it.
func (c *Client) Read(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{AllowStale: c.stale, RequireConsistent: c.consistent}).WithContext(ctx)
}

// Consistent returns the options for consistent reads: Consul's leader confirms its role before it responds.
func (c *Client) Consistent(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx)
}

func (c *Client) Write(ctx context.Context) *api.WriteOptions {
	return (&api.WriteOptions{}).WithContext(ctx)
}

// Info describes the agent.
type Info struct {
	Datacenter string `json:"datacenter"`
	// Node and Version are empty if the token may not read the agent.
	Node    string `json:"node,omitempty"`
	Version string `json:"version,omitempty"`
	// ConsensusLeader is the address of Consul's leader. It is empty without a quorum.
	ConsensusLeader string `json:"consensus_leader"`
}

// Info reads the description of the agent. Node and version require a permission; the datacenter and Consul's leader
// do not.
func (c *Client) Info(ctx context.Context) (Info, error) {
	leader, err := c.ConsensusLeader(ctx)
	if err != nil {
		return Info{}, err
	}
	info, err := c.agent(ctx)
	info.ConsensusLeader = sanitize.Text(c.Redact(leader))
	return info, err
}

// DatacenterName reads the name of the observed datacenter. It sends no request if the name is configured.
func (c *Client) DatacenterName(ctx context.Context) (string, error) {
	if name := c.Datacenter(); name != "" {
		return name, nil
	}
	info, err := c.agent(ctx)
	return info.Datacenter, err
}

// agent reads the description of the agent without Consul's leader.
func (c *Client) agent(ctx context.Context) (info Info, err error) {
	var self struct {
		Config struct{ Datacenter, NodeName, Version string }
	}
	_, err = c.api.Raw().Query("/v1/agent/self", &self, c.Read(ctx))
	if err = c.Wrap(err); err != nil && !errors.Is(err, ErrDenied) {
		return info, err
	}
	info.Datacenter, info.Node, info.Version = cmp.Or(c.datacenter, self.Config.Datacenter), self.Config.NodeName, self.Config.Version
	if info.Datacenter == "" {
		var all []string
		if all, err = c.Datacenters(ctx); len(all) > 0 {
			info.Datacenter, err = all[0], nil
		}
	}
	for _, text := range []*string{&info.Datacenter, &info.Node, &info.Version} {
		*text = sanitize.Text(c.Redact(*text))
	}
	return info, c.Wrap(err)
}

// Datacenters lists the datacenters in the catalog of the agent's servers, nearest first. The first datacenter is the
// agent's own.
func (c *Client) Datacenters(ctx context.Context) (all []string, err error) {
	// The library's function accepts no context.
	_, err = c.api.Raw().Query("/v1/catalog/datacenters", &all, c.Read(ctx))
	return all, c.Wrap(err)
}

// ConsensusLeader returns the address of Consul's leader, or "" if there is no leader.
func (c *Client) ConsensusLeader(ctx context.Context) (string, error) {
	leader, err := c.api.Status().LeaderWithQueryOptions(c.Read(ctx))
	return leader, c.Wrap(err)
}

// clusterTimeout bounds the read of the cluster's identity.
const clusterTimeout = 5 * time.Second

// Cluster returns the identity of the cluster: the trust domain of its service mesh, which every token can read. It is
// empty if the service mesh is disabled or Consul does not respond.
func (c *Client) Cluster(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	var roots struct{ TrustDomain string }
	if _, err := c.api.Raw().Query("/v1/connect/ca/roots", &roots, c.Read(ctx)); err != nil {
		return ""
	}
	return sanitize.Line(c.Redact(roots.TrustDomain), 100)
}

// Get sends a read and passes the response to decode, unless the response is a 404.
func (c *Client) Get(path string, params url.Values, q *api.QueryOptions, decode func(body io.Reader) error) (*api.QueryMeta, error) {
	if q.AllowStale {
		params.Set("stale", "")
	}
	if q.RequireConsistent {
		params.Set("consistent", "")
	}
	if q.WaitIndex > 0 {
		params.Set("index", strconv.FormatUint(q.WaitIndex, 10))
		params.Set("wait", strconv.FormatInt(q.WaitTime.Milliseconds(), 10)+"ms")
	}
	for name, value := range map[string]string{"dc": c.datacenter, "ns": c.namespace, "partition": c.partition} {
		if value != "" {
			params.Set(name, value)
		}
	}
	u := *c.endpoint
	u.Path, u.RawQuery = u.Path+path, params.Encode()
	r, err := http.NewRequestWithContext(q.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, c.Wrap(err)
	}
	if c.token != "" {
		r.Header.Set("X-Consul-Token", c.token)
	}
	if c.auth != nil {
		r.SetBasicAuth(c.auth.Username, c.auth.Password)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.Wrap(err)
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusNotFound:
	case http.StatusOK:
		err = decode(response.Body)
	default:
		var text []byte
		text, err = io.ReadAll(response.Body)
		err = cmp.Or[error](err, api.StatusError{Code: response.StatusCode, Body: strings.TrimSpace(string(text))})
	}
	if err != nil {
		return nil, c.Wrap(err)
	}
	header := response.Header
	meta := &api.QueryMeta{
		DefaultACLPolicy:      header.Get("X-Consul-Default-Acl-Policy"),
		ResultsFilteredByACLs: header.Get("X-Consul-Results-Filtered-By-Acls") == "true",
	}
	meta.LastIndex, _ = strconv.ParseUint(header.Get("X-Consul-Index"), 10, 64) // the transport has already checked the index
	return meta, nil
}

// Buffered returns a function for [Client.Get] that passes the response to decode through a reused buffer. decode must not
// keep a reference to it.
func (c *Client) Buffered(decode func(body *jsontext.Decoder) error) func(io.Reader) error {
	return func(from io.Reader) error {
		body, _ := c.buffers.Get().(*bufio.Reader) // a decoder alone would read less than a kilobyte at a time
		defer c.buffers.Put(body)
		body.Reset(from)
		defer body.Reset(nil) // keeps no response in memory
		return decode(jsontext.NewDecoder(body, election.JSONOptions))
	}
}
