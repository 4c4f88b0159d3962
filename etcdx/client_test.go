package etcdx_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/election"
	"electop/etcdx"
	"electop/internal/consultest"
	"electop/internal/etcdtest"
)

func TestErrorsNameTheReason(t *testing.T) {
	t.Parallel()
	certs, others := consultest.NewCertificates(t, "root"), consultest.NewCertificates(t, "root")
	secure := etcdtest.Start(t, 1, etcdtest.WithTLS(certs)).Members[0].Endpoint()
	plain := etcdtest.Shared(t).Members[0].Endpoint()
	users := etcdtest.Start(t, 1)
	users.EnableAuth(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	resets, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer resets.Close()
	go func() {
		for conn, err := resets.Accept(); err == nil; conn, err = resets.Accept() {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}()
	var all sync.WaitGroup
	refused := "http://127.0.0.1:1"
	for name, tt := range map[string]struct {
		opts etcdx.Options
		want string
	}{
		"refused":               {etcdx.Options{Endpoints: []string{refused}}, refused + ": connect: connection refused"},
		"refused with a user":   {etcdx.Options{Endpoints: []string{refused}, User: "a", Password: "b", DialTimeout: time.Second}, refused + ": connect: connection refused"},
		"several":               {etcdx.Options{Endpoints: []string{refused, "http://127.0.0.1:2"}}, "connection refused; http://127.0.0.1:2: "},
		"unknown host":          {etcdx.Options{Endpoints: []string{"no-such-host.invalid:2379"}}, "no-such-host.invalid"},
		"silent":                {etcdx.Options{Endpoints: []string{silent.Addr().String()}}, "connected, but no response"},
		"reset":                 {etcdx.Options{Endpoints: []string{resets.Addr().String()}}, ": connection reset by peer"},
		"no certificate":        {etcdx.Options{Endpoints: []string{secure}, CACert: certs.CA}, "tls: certificate required; does it require another client certificate?"},
		"another certificate":   {etcdx.Options{Endpoints: []string{secure}, CACert: certs.CA, Cert: others.Cert, Key: others.Key}, secure + ": error reading server preface: remote error: tls: "},
		"unknown CA":            {etcdx.Options{Endpoints: []string{secure}}, "certificate signed by unknown authority"},
		"http to a TLS port":    {etcdx.Options{Endpoints: []string{strings.Replace(secure, "https", "http", 1)}}, "does it require https?"},
		"https to a plain port": {etcdx.Options{Endpoints: []string{strings.Replace(plain, "http", "https", 1)}}, "does it require http?"},
		"no user":               {etcdx.Options{Endpoints: users.Endpoints()}, "user name is empty"},
		"wrong password":        {etcdx.Options{Endpoints: users.Endpoints(), User: "root", Password: "x"}, "authentication failed"},
	} {
		client := newClient(t, tt.opts)
		all.Go(func() {
			for end := time.Now().Add(patience); ; { // a slow machine may not find the reason in time
				_, err := etcdx.List(t.Context(), client, queue)
				if err != nil && strings.Contains(err.Error(), tt.want) {
					return
				}
				if strings.Contains(err.Error(), "rpc error") {
					t.Errorf("%s: %v", name, err)
				}
				if time.Now().After(end) {
					t.Errorf("%s: got %v, want %s", name, err, tt.want)
					return
				}
			}
		})
	}
	all.Wait()
	if _, err := etcdx.New(etcdx.Options{Endpoints: []string{secure}, CACert: "/nowhere"}); err == nil {
		t.Fatal("a missing file is not reported")
	}
}

func TestLeases(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	etcd.AddReader(t, "reader", "leases/")
	etcd.AddWriter(t, "writer", "leases/")
	granted := grant(t, etcd)
	id := int64(granted)
	put(t, etcd, "leases/a", "", clientv3.WithLease(granted))
	put(t, etcd, "leases/b", "", clientv3.WithLease(granted))
	as := func(user string) *etcdx.Client {
		return newClient(t, etcdx.Options{Endpoints: etcd.Endpoints(), User: user, Password: user})
	}
	reader, writer := as("reader"), as("writer")
	lease, err := reader.Lease(t.Context(), id, true)
	must(t, err)
	slices.Sort(lease.Keys)
	if lease.Granted != 600*time.Second || lease.Remaining <= 0 || lease.Remaining > lease.Granted || fmt.Sprint(lease.Keys) != "[leases/a leases/b]" {
		t.Fatal(lease)
	}
	if err := reader.Revoke(t.Context(), id); !errors.Is(err, rpctypes.ErrPermissionDenied) || errors.Is(err, election.ErrUnknown) {
		t.Fatal(err)
	}
	must(t, writer.Revoke(t.Context(), id))
	if _, err := reader.Lease(t.Context(), id, false); !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		t.Fatal(err)
	}
	if got, err := etcdx.List(t.Context(), writer, election.PrefixRange("leases/")); err != nil || len(got.KVs) > 0 {
		t.Fatal(got, err)
	}
	for client, want := range map[*etcdx.Client]string{
		reader: "[{leases/ leases0 true false}] false", writer: "[{leases/ leases0 true true}] false", as("root"): "[] true",
		newClient(t, etcdx.Options{Endpoints: etcdtest.Shared(t).Endpoints()}): "[] true",
	} {
		rights, all, err := client.Rights(t.Context())
		if got := fmt.Sprint(rights, all); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

func TestRightsInEtcd34(t *testing.T) {
	t.Parallel()
	etcdtest.NeedsV2(t)
	etcd := etcdtest.Start(t, 1, etcdtest.WithV2())
	rights := func(user string) string {
		got, all, err := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints(), User: user, Password: user}).Rights(t.Context())
		return fmt.Sprint(got, all, err)
	}
	if got := rights(""); got != "[] true <nil>" {
		t.Error(got)
	}
	etcd.AddReader(t, "reader", "leases/")
	for user, want := range map[string]string{"": "[] false etcdserver: user name is empty", "root": "[] true <nil>", "reader": "[{leases/ leases0 true false}] false <nil>"} {
		if got := rights(user); got != want {
			t.Errorf("%s: %s", user, got)
		}
	}
}

// A revoke that is not confirmed may have been applied.
func TestRevokeWithoutAResponse(t *testing.T) {
	etcd := etcdtest.Shared(t)
	granted := grant(t, etcd)
	proxy := etcdtest.StartProxy(t, etcd)
	c := newClient(t, etcdx.Options{Endpoints: []string{proxy.Endpoint()}})
	_, err := c.Lease(t.Context(), int64(granted), false)
	must(t, err)
	proxy.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Revoke(ctx, int64(granted)); !errors.Is(err, election.ErrUnknown) {
		t.Fatal(err)
	}
}
