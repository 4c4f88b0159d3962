// Package etcdx connects electop to etcd's v3 API. [Client.Watch] reports the keys of ranges and every change to them,
// in order; [List] reads them once, at one revision. [Client.Lease], [Client.Rights] and [Client.Revoke] read and end
// single leases. The package needs etcd 3.4.25, 3.5.8 or later: earlier servers confirm a watch too early.
//
// A caller ranges over the updates of a watch, in its own goroutine:
//
//	for u := range client.Watch(ctx, election.PrefixRange("election/")) {
//		switch u := u.(type) {
//		case etcdx.Listed: // the complete state; u.Gap: changes before it were lost
//		case etcdx.Changed: // all changes of one revision
//		case etcdx.Stale: // etcd has not responded since u.Since, because of u.Err
//		case etcdx.Live: // the reported state is current
//		}
//	}
//
// A slow caller slows down the watch; nothing is dropped, and nothing accumulates in memory.
package etcdx

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/authpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"electop/election"
)

// Options contains the addresses and the credentials, like the flags of etcdctl.
type Options struct {
	// Endpoints are host:port, or URLs with the scheme http or https. They belong to one cluster.
	Endpoints         []string
	CACert, Cert, Key string // files
	User, Password    string
	DialTimeout       time.Duration // 0 means 2 seconds
	Name              Name
}

// Name is what elections contain as the name of the datacenter. "" stands for the ID of the cluster.
type Name string

// Datacenter returns the name.
func (n Name) Datacenter() string { return string(n) }

// Client is a connection to one etcd cluster, safe for concurrent use.
type Client struct {
	Name
	opts   Options
	cfg    clientv3.Config
	cancel context.CancelFunc // of cfg.Context

	mu   sync.Mutex
	etcd *clientv3.Client // nil until the first request
}

// New reads the certificates. It sends no request.
func New(opts Options) (*Client, error) {
	if len(opts.Endpoints) == 0 {
		return nil, errors.New("no endpoint of etcd is given")
	}
	timeout := cmp.Or(opts.DialTimeout, 2*time.Second)
	cfg, err := clientv3.NewClientConfig(&clientv3.ConfigSpec{
		Endpoints: opts.Endpoints, DialTimeout: timeout, KeepAliveTime: 10 * time.Second, KeepAliveTimeout: 3 * time.Second,
		Secure: &clientv3.SecureConfig{Cert: opts.Cert, Key: opts.Key, Cacert: opts.CACert, InsecureTransport: true},
		Auth:   &clientv3.AuthConfig{Username: opts.User, Password: opts.Password},
	}, zap.NewNop())
	if err != nil {
		return nil, fmt.Errorf("TLS settings: %w", err)
	}
	cfg.Logger = zap.NewNop()
	cfg.MaxUnaryRetries = 2 // another endpoint may respond
	delays := backoff.DefaultConfig
	delays.MaxDelay = 3 * time.Second
	cfg.DialOptions = []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{Backoff: delays, MinConnectTimeout: timeout}), grpc.WithChainUnaryInterceptor(failFast)}
	c := &Client{Name: opts.Name, opts: opts, cfg: *cfg}
	c.cfg.Context, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// failFast lets a request fail when no endpoint can be reached, instead of at its deadline. The next request tries all again.
func failFast(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, conn, append(opts, grpc.WaitForReady(false))...)
	if status.Code(err) == codes.Unavailable {
		conn.ResetConnectBackoff()
	}
	return err
}

// Close closes the connections. Pending requests fail. The Client must not be used afterwards.
func (c *Client) Close() {
	c.cancel()
	c.reopen()
}

// open connects on the first call. With a password, this sends a request, so it may fail and be repeated.
func (c *Client) open() (*clientv3.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.etcd == nil {
		if err := c.cfg.Context.Err(); err != nil {
			return nil, err
		}
		etcd, err := clientv3.New(c.cfg)
		if err != nil {
			return nil, err
		}
		c.etcd = etcd
	}
	return c.etcd, nil
}

// do sends requests and explains their error.
func (c *Client) do(send func(*clientv3.Client) error) error {
	etcd, err := c.open()
	if err == nil {
		err = send(etcd)
	}
	return c.explain(err)
}

// reopen replaces a connection that is silent: gRPC would notice it after 13 s. Its requests fail.
func (c *Client) reopen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.etcd != nil {
		_ = c.etcd.Close()
		c.etcd = nil
	}
}

// Lease is a lease that exists, or one that certainly expired if Remaining is negative. Granted is 0 if it is unknown.
type Lease struct {
	Granted, Remaining time.Duration
	Keys               []string
}

// Lease reads a lease, and its keys if keys is set: this requires the right to read them. If the lease has ended, the
// error is [rpctypes.ErrLeaseNotFound].
func (c *Client) Lease(ctx context.Context, id int64, keys bool) (lease Lease, err error) {
	var options []clientv3.LeaseOption
	if keys {
		options = append(options, clientv3.WithAttachedKeys())
	}
	err = c.do(func(etcd *clientv3.Client) error {
		got, err := etcd.TimeToLive(ctx, clientv3.LeaseID(id), options...)
		if err != nil {
			return err
		}
		if got.TTL < 0 {
			return rpctypes.ErrLeaseNotFound
		}
		lease.Granted, lease.Remaining = time.Duration(got.GrantedTTL)*time.Second, time.Duration(got.TTL)*time.Second
		for _, key := range got.Keys {
			lease.Keys = append(lease.Keys, string(key))
		}
		return nil
	})
	return lease, err
}

// Leases returns the IDs of all leases. This requires the right to read all their keys.
func (c *Client) Leases(ctx context.Context) (ids []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = c.do(func(etcd *clientv3.Client) error {
		all, err := etcd.Leases(ctx)
		for i := 0; err == nil && i < len(all.Leases); i++ {
			ids = append(ids, clusterName(uint64(all.Leases[i].ID))) //nolint:gosec // IDs are positive
		}
		return err
	})
	return ids, err
}

// Leased returns the number of keys with a prefix, and the elections among them: queues, and other keys with a lease. It
// counts before it reads, and reads no values, and no keys of Kubernetes unless the prefix names them.
func (c *Client) Leased(ctx context.Context, prefix string, progress func(done, total int)) (total int, found []*election.Pair, err error) {
	w := &watch{ranges: Ranges(election.Patterns{election.KeyPattern(prefix)})}
	err = c.do(func(etcd *clientv3.Client) error {
		for _, r := range w.ranges {
			count, err := get(ctx, etcd, r, clientv3.WithCountOnly())
			if err != nil {
				return err
			}
			total += int(count.Count)
		}
		progress(0, total)
		kvs, err := w.read(ctx, etcd, 0, clientv3.WithKeysOnly())
		ps, _ := election.ParsePatterns([]string{DefaultPattern})
		found = NewElections(ps, ps).List(kvs, 0).Pairs
		return err
	})
	return total, found, classify(err, nil)
}

// Member is a member. Problem contains the alarms of the cluster, or why the member does not respond.
type Member struct {
	Name    string `json:"name"`
	State   string `json:"state,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Members asks all members one after the other.
func (c *Client) Members(ctx context.Context) (all []Member, err error) {
	err = c.do(func(etcd *clientv3.Client) error {
		list, err := etcd.MemberList(ctx)
		if err != nil {
			return err
		}
		for _, m := range list.Members {
			member := Member{Name: m.Name}
			if s, err := c.examine(etcd, strings.Join(m.ClientURLs[:min(1, len(m.ClientURLs))], "")); err == nil {
				member.State = fmt.Sprintf("etcd %s, revision %d, %d Raft entries behind%s", s.Version, s.Header.Revision, s.RaftIndex-s.RaftAppliedIndex, map[bool]string{true: ", leader"}[s.Leader == m.ID])
				member.Problem = strings.TrimSpace(strings.Join(s.Errors, ", "))
			} else {
				member.Problem = err.Error()
			}
			all = append(all, member)
		}
		return nil
	})
	return all, err
}

// Right is what a role permits: for the keys from Key to before End, for Key alone if End is empty, or for all keys from
// Key if it is "\x00".
type Right struct {
	Key, End    string
	Read, Write bool
}

// Rights returns the rights of the client's user: that of the password, or the common name of the certificate. all is set
// if etcd has no users, or the user has the role root.
func (c *Client) Rights(ctx context.Context) (rights []Right, all bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = c.do(func(etcd *clientv3.Client) error {
		_, err := etcd.Authenticate(ctx, c.cfg.Username, c.cfg.Password) // etcd 3.4 has no AuthStatus
		if all = errors.Is(err, rpctypes.ErrAuthNotEnabled); all {
			return nil
		}
		name := c.cfg.Username
		if pair, err := tls.LoadX509KeyPair(c.opts.Cert, c.opts.Key); err == nil && name == "" {
			name = pair.Leaf.Subject.CommonName
		}
		if name == "" {
			return rpctypes.ErrUserEmpty
		}
		user, err := etcd.UserGet(ctx, name)
		if err != nil {
			return err
		}
		if all = slices.Contains(user.Roles, "root"); all {
			return nil
		}
		for _, name := range user.Roles {
			role, err := etcd.RoleGet(ctx, name)
			if err != nil {
				return err
			}
			for _, p := range role.Perm {
				rights = append(rights, Right{
					Key: string(p.Key), End: string(p.RangeEnd), Read: p.PermType != authpb.WRITE, Write: p.PermType != authpb.READ,
				})
			}
		}
		return nil
	})
	return rights, all, classify(err, nil)
}

// glance is how long electop looks for the reason of a failed request.
const glance = 500 * time.Millisecond

// explain returns the error of a request in etcd's own words. If etcd did not respond, it asks each endpoint why,
// because the client hides most reasons.
func (c *Client) explain(err error) error {
	var answer rpctypes.EtcdError
	if err = rpctypes.Error(err); err == nil || errors.As(err, &answer) || c.cfg.Context.Err() != nil ||
		errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled { // also by reopen
		return err
	}
	anyone := c.cfg
	anyone.Username = "" // its password could need a request
	etcd, failed := clientv3.New(anyone)
	if failed != nil {
		return err
	}
	defer etcd.Close()
	reasons := make([]string, len(c.cfg.Endpoints))
	var wg sync.WaitGroup
	for i, endpoint := range c.cfg.Endpoints {
		wg.Go(func() {
			s, why := c.examine(etcd, endpoint)
			switch {
			case why == nil && s.Leader == 0:
				why = rpctypes.ErrNoLeader
			case errors.As(why, new(rpctypes.EtcdError)) || status.Code(why) != codes.Unknown: // it answered
				return
			}
			reasons[i] = fmt.Sprintf("%s: %v", endpoint, why)
		})
	}
	wg.Wait()
	reasons = slices.DeleteFunc(reasons, func(s string) bool { return s == "" })
	if len(reasons) == 0 {
		return err
	}
	return errors.New(strings.Join(reasons, "; "))
}

// examine returns the state of an endpoint, or why it does not respond.
func (c *Client) examine(etcd *clientv3.Client, endpoint string) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(c.cfg.Context, glance)
	defer cancel()
	scheme, address, found := strings.Cut(endpoint, "://")
	if !found {
		address = endpoint
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without the address
	}
	if err != nil {
		return nil, err
	}
	_ = conn.Close()
	state, err := etcd.Status(ctx, endpoint)
	for strings.HasPrefix(status.Convert(err).Message(), "write ") && ctx.Err() == nil { // before the server's reason was read
		state, err = etcd.Status(ctx, endpoint)
	}
	_, why, failed := strings.Cut(status.Convert(err).Message(), "desc = ")
	switch why = strings.Trim(why, `"`); {
	case status.Code(err) == codes.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("connected, but no response")
	case !failed:
		return state, err
	case strings.HasSuffix(why, "handshake failed: EOF"):
		why += "; does it require http?"
	case !strings.Contains(why, "preface"):
	case scheme == "https" || !found && c.cfg.TLS != nil:
		why += "; does it require another client certificate?"
	default:
		why += "; does it require https?"
	}
	if _, after, found := strings.Cut(why, "->"); found { // the addresses of the connection change with each attempt
		_, why, _ = strings.Cut(after, ": ")
	}
	return nil, errors.New(why)
}
