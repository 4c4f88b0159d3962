package etcdx_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"electop/election"
	"electop/etcdx"
	"electop/internal/etcdtest"
)

// folder is a queue in an etcd with the v2 API, watched through a proxy.
type folder struct {
	t     *testing.T
	etcd  *etcdtest.Cluster
	proxy *etcdtest.Proxy
	*etcdx.V2
	updates chan etcdx.Update
	values  map[string]string // of keys that changed
}

const master = "/jobs/master"

func newFolder(t *testing.T) *folder {
	t.Helper()
	t.Parallel()
	etcdtest.NeedsV2(t)
	etcd := etcdtest.Start(t, 1, etcdtest.WithV2())
	f := &folder{t: t, etcd: etcd, proxy: etcdtest.StartProxy(t, etcd), updates: make(chan etcdx.Update, 1<<12), values: map[string]string{}}
	f.write(http.MethodPut, "/other/config", "value=x")
	var err error
	f.V2, err = etcdx.NewV2(etcdx.Options{Endpoints: []string{f.proxy.Endpoint()}})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for u := range f.Watch(ctx, election.PrefixRange("/jobs/")) {
			f.updates <- u
		}
	}()
	t.Cleanup(func() { cancel(); <-done; f.Close() })
	return f
}

func (f *folder) write(method, key, form string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, f.etcd.Members[0].Endpoint()+"/v2/keys"+key, strings.NewReader(form))
	must(f.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	must(f.t, err)
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode >= 400 {
		f.t.Fatalf("%s %s: %s %s %v", method, key, response.Status, body, err)
	}
}

func (f *folder) join(name string, ttl int) {
	f.t.Helper()
	f.write(http.MethodPost, master, url.Values{"value": {name}, "ttl": {fmt.Sprint(ttl)}}.Encode())
}

// next returns the next update as text.
func (f *folder) next() string {
	f.t.Helper()
	switch u := receive(f.t, f.updates).(type) {
	case etcdx.Listed:
		var all []string
		for _, kv := range u.KVs {
			all = append(all, string(kv.Value))
		}
		return fmt.Sprint("listed ", all, " gap ", u.Gap)
	case etcdx.Changed:
		e := u.Events[0]
		text := e.Type.String()
		for _, e := range u.Events {
			if e.Type == mvccpb.PUT {
				f.values[string(e.Kv.Key)] = string(e.Kv.Value)
			}
			text += " " + f.values[string(e.Kv.Key)]
		}
		return text
	case etcdx.Stale:
		if u.Gap {
			return "lost"
		}
		return "stale"
	}
	return "live"
}

// wants skips other states of the connection: a slow machine may lose it.
func (f *folder) wants(all ...string) {
	f.t.Helper()
	for _, want := range all {
		got := f.next()
		for (got == "stale" || got == "live") && want != got {
			got = f.next()
		}
		if got != want {
			f.t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// keys returns the keys of the queue.
func (f *folder) keys() (all []*mvccpb.KeyValue) {
	f.t.Helper()
	got, err := etcdx.List(f.t.Context(), f, election.PrefixRange("/jobs/"))
	must(f.t, err)
	return got.KVs
}

// A key without a TTL has no lease. Keys with other names, and other folders, do not belong to a queue.
func TestV2Queue(t *testing.T) {
	f := newFolder(t)
	f.wants("listed [] gap false")
	f.write(http.MethodPost, master+"/inner", "value=inner&ttl=600")
	f.wants("PUT inner")
	f.join("a", 600)
	f.join("b", 600)
	f.write(http.MethodPost, master, "value=blocker")
	f.write(http.MethodPut, master+"/config", "value=x&ttl=600")
	f.write(http.MethodPost, "/elsewhere", "value=x&ttl=600")
	f.wants("PUT a", "PUT b", "PUT blocker")
	all := f.keys()
	other, err := etcdx.NewV2(etcdx.Options{Endpoints: f.etcd.Endpoints()})
	must(t, err)
	defer other.Close()
	s := once(t, other, "/jobs/*")
	e := s.Find(master)
	if len(s.Elections) != 1 || e == nil || e.Leader != "a" || len(e.Pair.Queue) != 2 || e.Pair.Queue[0].Name != "b" {
		t.Fatal(s.Elections)
	}
	if left := time.Until(e.Session.Expires); e.Session.TTL != 0 || left < 5*time.Minute || left > 10*time.Minute { // a list shows no TTL, only what remains
		t.Errorf("%+v", e.Session)
	}
	first := all[0]
	if len(all) != 4 || !strings.HasSuffix(string(first.Key), fmt.Sprintf("/%020d", first.Lease)) || first.CreateRevision != first.Lease || all[2].Lease != 0 || string(all[3].Value) != "inner" {
		t.Fatal(all)
	}
	f.write(http.MethodPut, string(first.Key), "value=a&ttl=1200&prevExist=true") // a renewal
	f.write(http.MethodPut, string(first.Key), "value=new&ttl=1200&prevExist=true")
	f.wants("PUT new")
	if lease, err := f.Lease(t.Context(), first.Lease, true); err != nil || lease.Granted != 20*time.Minute || !slices.Equal(lease.Keys, []string{string(first.Key)}) {
		t.Error(lease, err)
	}
	f.write(http.MethodDelete, master+"?recursive=true", "")
	f.wants("DELETE new b blocker inner")
}

func target(kv *mvccpb.KeyValue) election.Target {
	return election.Target{Key: master, Session: strconv.FormatInt(kv.Lease, 16)}
}

// The cause is exact: only the expiry of a key ends its lease.
func TestV2Ends(t *testing.T) {
	f := newFolder(t)
	f.wants("listed [] gap false")
	f.join("a", 600)
	f.join("b", 600)
	f.wants("PUT a", "PUT b")
	all := f.keys()
	f.write(http.MethodPut, string(all[1].Key), "value=b&ttl=1&prevExist=true")
	if err := f.Release(t.Context(), target(all[1])); !errors.Is(err, election.ErrMoved) {
		t.Error(err)
	}
	f.wants("DELETE b")
	if _, err := f.Lease(t.Context(), all[1].Lease, false); !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		t.Error(err)
	}
	must(t, f.Release(t.Context(), target(all[0])))
	f.wants("DELETE a")
	if lease, err := f.Lease(t.Context(), all[0].Lease, false); err != nil || lease.Remaining < 5*time.Minute {
		t.Error(lease, err)
	}
	if err := f.Release(t.Context(), target(all[0])); !errors.Is(err, election.ErrMoved) || len(f.keys()) > 0 {
		t.Error(err)
	}
}

// The board is stale within 6 s, and afterwards every change is reported.
func TestV2ConnectionsBreak(t *testing.T) {
	for name, fault := range map[string]func(*etcdtest.Proxy){"cut": (*etcdtest.Proxy).Cut, "half-open": (*etcdtest.Proxy).Freeze} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.wants("listed [] gap false")
			fault(f.proxy)
			f.join("a", 600)
			f.join("b", 600)
			if name == "cut" {
				f.wants("stale")
				f.proxy.Heal()
				f.wants("PUT a", "PUT b", "live")
				return
			}
			f.wants("PUT a", "PUT b") // after the next request
		})
	}
}

func TestV2MemberIsFrozen(t *testing.T) {
	f := newFolder(t)
	f.wants("listed [] gap false")
	began := time.Now()
	must(t, f.etcd.Members[0].Freeze())
	f.wants("stale")
	t.Logf("stale after %v", time.Since(began))
	must(t, f.etcd.Members[0].Thaw())
	f.wants("live")
}

// etcd keeps only 1000 changes, and a new store begins with a lower index.
func TestV2ChangesAreLost(t *testing.T) {
	f := newFolder(t)
	f.wants("listed [] gap false")
	f.join("a", 600)
	f.wants("PUT a")
	f.proxy.Cut()
	f.join("b", 600)
	for range 1100 {
		f.write(http.MethodPut, "/other/config", "value=y")
	}
	f.wants("stale")
	f.proxy.Heal()
	f.wants("lost", "listed [a b] gap true", "live")
	m := f.etcd.Members[0]
	must(t, m.Kill())
	must(t, os.RemoveAll(m.Data()))
	must(t, m.Start())
	f.wants("stale", "lost", "listed [] gap true", "live")
}

// The second endpoint responds. A certificate implies https, and a refusal is no lost connection.
func TestV2Endpoints(t *testing.T) {
	t.Parallel()
	denied := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Etcd-Index", "7")
		if denied {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"message":"Insufficient credentials"}`)
			return
		}
		_, _ = io.WriteString(w, `{"action":"get","node":{"key":"/","dir":true}}`)
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	v, err := etcdx.NewV2(etcdx.Options{Endpoints: []string{"127.0.0.1:1", server.Listener.Addr().String()}, CACert: ca})
	must(t, err)
	defer v.Close()
	read := func() error {
		_, err := etcdx.Reader{v}.Once(t.Context(), patterns(t, "**"), election.HistoryRead{})
		return err
	}
	must(t, read())
	denied = true
	if err := read(); !errors.Is(err, election.ErrDenied) || errors.Is(err, election.ErrUnreachable) {
		t.Error(err)
	}
}

// A change that etcd had begun to send when a request timed out is sent again.
func TestV2ChangeAtTheEndOfARequest(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for 5 s")
	}
	t.Parallel()
	var late atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Etcd-Cluster-Id", "1")
		w.Header().Set("X-Etcd-Index", "8")
		switch {
		case r.FormValue("wait") == "" && late.Load() == 0:
			w.Header().Set("X-Etcd-Index", "7")
			_, _ = io.WriteString(w, `{"action":"get","node":{"key":"/","dir":true}}`)
		case r.FormValue("wait") == "" || r.FormValue("waitIndex") != "8":
			_, _ = io.WriteString(w, `{"errorCode":100,"message":"Key not found"}`)
		case late.Add(1) <= 2:
			if late.Load() == 1 {
				<-time.After(2 * time.Second) //nolint:forbidigo // a slow server
			} else {
				_, _ = io.WriteString(w, `{"action":`)
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, `{"action":"create","node":{"key":"/jobs/master/00000000000000000008","value":"a","modifiedIndex":8,"createdIndex":8}}`)
		}
	}))
	defer server.Close()
	v, err := etcdx.NewV2(etcdx.Options{Endpoints: []string{server.URL}})
	must(t, err)
	defer v.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for u := range v.Watch(ctx, election.PrefixRange("/jobs/")) {
		if _, changed := u.(etcdx.Changed); changed {
			return
		}
	}
	t.Error("the change was lost")
}
