package etcdtest

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"electop/internal/consultest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(Wrap(m)) }

// The revision falls after a restore, and a member keeps its data after a kill.
func TestRestartAndRestore(t *testing.T) {
	c := Start(t, 1)
	put := func(value string) int64 {
		response, err := c.Put(t.Context(), "key", value)
		if err != nil {
			t.Fatal(err)
		}
		return response.Header.Revision
	}
	first := put("a")
	snapshot := c.Snapshot(t)
	last := put("b")
	if err := c.Members[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Members[0].Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "key"); err != nil || string(got.Kvs[0].Value) != "b" || got.Header.Revision != last {
		t.Fatal(got, err)
	}
	c.Restore(t, snapshot)
	if err := c.WaitReady(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "key"); err != nil || string(got.Kvs[0].Value) != "a" || got.Header.Revision != first {
		t.Fatal(got, err)
	}
}

func TestThreeMembersWithUsersAndTLS(t *testing.T) {
	c := Start(t, 3, WithTLS(consultest.NewCertificates(t, Root)))
	c.EnableAuth(t)
	c.AddUser(t, "reader", "a/", clientv3.PermissionType(clientv3.PermRead))
	lead := c.Leader(t)
	if err := c.Members[lead].Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(); err != nil {
		t.Fatal(err)
	}
	if err := c.Members[lead].Thaw(); err != nil {
		t.Fatal(err)
	}
}

// A half-open connection stays open and silent; a cut one is closed.
func TestProxy(t *testing.T) {
	c := Shared(t)
	p := StartProxy(t, c.Members[0].Endpoint())
	through, err := clientv3.New(clientv3.Config{Endpoints: []string{p.Endpoint()}, DialTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	if _, err := through.Get(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	p.Heal()
	if _, err := through.Get(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
}
