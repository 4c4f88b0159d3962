package etcdx

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"electop/election"
)

// V2 reads queues through the v2 API of etcd 3.5 and older, and reports them like [Client]. A queue is a folder of keys
// whose names are the index of their creation in 20 digits. No name returns, so this number is also reported as the
// CreateRevision of the key and, if the key has a TTL, as its lease.
type V2 struct {
	Name
	opts Options
	http *http.Client

	current atomic.Int32 // index of the endpoint that is used
	mu      sync.Mutex
	leases  map[int64]leaseV2
}

// leaseV2 is the TTL of a key, according to the latest answer. granted is 0 until a client sets it: a list does not contain it.
type leaseV2 struct {
	key     string
	granted time.Duration
	expires time.Time
	expired bool
}

// NewV2 reads the certificates. It sends no request.
func NewV2(opts Options) (*V2, error) {
	c, err := New(opts)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: time.Second}).DialContext, TLSClientConfig: c.cfg.TLS, Proxy: http.ProxyFromEnvironment}
	return &V2{Name: opts.Name, opts: opts, http: &http.Client{Transport: transport}, leases: map[int64]leaseV2{}}, nil
}

// Store describes etcd. Its leaders notice that their key was deleted.
func (v *V2) Store() election.Store {
	return election.Store{Name: "etcd", Revisions: true, Leases: true, StepsDown: true}
}

// Cluster returns the ID of the cluster, or "" if the member does not respond.
func (v *V2) Cluster(ctx context.Context) string {
	a, _ := v.do(ctx, http.MethodGet, "/electop", nil)
	return a.cluster
}

// Rights fails if the user cannot read the store. The rights themselves are not read.
func (v *V2) Rights(ctx context.Context) ([]Right, bool, error) {
	_, err := v.do(ctx, http.MethodGet, "/", nil)
	return nil, false, err
}

// Close closes the idle connections.
func (v *V2) Close() { v.http.CloseIdleConnections() }

// nodeV2 is a key or a folder, as the API encodes it.
type nodeV2 struct {
	Key, Value    string
	Dir           bool
	TTL           int64
	ModifiedIndex int64
	Nodes         []nodeV2
}

// number returns the number that names a key of a queue, or 0 for other nodes.
func (n *nodeV2) number() int64 {
	name := n.Key[strings.LastIndexByte(n.Key, '/')+1:]
	number, err := strconv.ParseInt(name, 10, 64)
	if err != nil || len(name) != 20 || n.Dir {
		return 0
	}
	return number
}

func (n *nodeV2) kv() *mvccpb.KeyValue {
	number := n.number()
	kv := &mvccpb.KeyValue{Key: []byte(n.Key), Value: []byte(n.Value), CreateRevision: number, ModRevision: n.ModifiedIndex}
	if n.TTL > 0 {
		kv.Lease = number
	}
	return kv
}

// answerV2 is an answer of the API. index is the index of the store when it was sent.
type answerV2 struct {
	Action         string
	Node           *nodeV2
	Message, Cause string
	ErrorCode      int

	index   int64
	cluster string
	at      time.Time // when the answer began
}

// Codes of errors of the API.
const (
	notFoundV2  = 100
	uncertainV2 = 300 // from here on, a write may have been applied
	clearedV2   = 401
)

var errAgain = errors.New("changes are no longer known")

// do sends a request about a key to the current endpoint. If it fails, the next one is used; a read is sent to it at once.
func (v *V2) do(ctx context.Context, method, key string, query url.Values) (a answerV2, err error) {
	for range v.opts.Endpoints {
		a, err = v.send(ctx, method, key, query)
		if err == nil || errors.Is(err, errAgain) || errors.Is(err, election.ErrDenied) || ctx.Err() != nil {
			break
		}
		v.current.Add(1)
		if method != http.MethodGet {
			break
		}
	}
	return a, err
}

func (v *V2) send(ctx context.Context, method, key string, query url.Values) (a answerV2, err error) {
	endpoint := v.opts.Endpoints[int(v.current.Load())%len(v.opts.Endpoints)]
	if !strings.Contains(endpoint, "://") {
		endpoint = map[bool]string{true: "https://", false: "http://"}[v.opts.CACert+v.opts.Cert != ""] + endpoint
	}
	address := strings.TrimSuffix(endpoint, "/") + "/v2/keys" + (&url.URL{Path: key}).EscapedPath() + "?" + query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return a, err
	}
	if v.opts.User != "" {
		request.SetBasicAuth(v.opts.User, v.opts.Password)
	}
	response, err := v.http.Do(request)
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.cluster, a.at = response.Header.Get("X-Etcd-Cluster-Id"), time.Now()
	body, err := io.ReadAll(response.Body)
	if err == nil || len(body) == 0 { // otherwise, a change was on its way
		a.index, _ = strconv.ParseInt(response.Header.Get("X-Etcd-Index"), 10, 64)
	}
	if err != nil {
		return a, err
	}
	err = json.Unmarshal(body, &a)
	switch {
	case a.ErrorCode == notFoundV2:
		return a, nil
	case a.ErrorCode == clearedV2:
		return a, errAgain
	case response.StatusCode == http.StatusUnauthorized:
		return a, failure{fmt.Errorf("etcd refuses the user: %s", a.Message), election.ErrDenied}
	case a.Message != "":
		return a, errors.New(strings.TrimSuffix(a.Message+": "+a.Cause, ": "))
	case response.StatusCode == http.StatusNotFound:
		return a, errors.New("etcd does not serve the v2 API: etcd 3.4 and 3.5 need the flag --enable-v2")
	case err != nil || a.Node == nil || a.index == 0:
		return a, fmt.Errorf("no answer of etcd's v2 API (%s)", response.Status)
	}
	return a, nil
}

// watchV2 is one call of [V2.Watch].
type watchV2 struct {
	*V2
	report
	folder string
	ranges election.RangeSet

	cluster string
	index   int64                       // all changes until here have been reported; 0: nothing has been listed
	keys    map[string]*mvccpb.KeyValue // reported
}

// Watch reports the queues in disjoint ranges as [Client.Watch] does. A renewal is no change. It watches the folder that
// contains the range, or the whole store if there are several.
func (v *V2) Watch(ctx context.Context, ranges ...election.Range) iter.Seq[Update] {
	w := &watchV2{V2: v, folder: "/", ranges: ranges}
	if key := ranges[0].From; len(ranges) == 1 && strings.HasPrefix(key, "/") {
		w.folder = key[:strings.LastIndexByte(key, '/')+1]
	}
	return w.updates(ctx, w.step)
}

func (w *watchV2) step(ctx context.Context) time.Duration {
	err := w.next(ctx)
	if err == nil {
		return 0
	}
	w.lost(err, false)
	w.current.Add(1)
	return 5 * retry
}

func (w *watchV2) list(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	a, err := w.do(ctx, http.MethodGet, w.folder, url.Values{"recursive": {"true"}, "quorum": {"true"}})
	if err != nil {
		return err
	}
	listed := Listed{Datacenter: cmp.Or(w.Datacenter(), a.cluster), Revision: a.index, Gap: w.index > 0}
	w.mu.Lock()
	w.keys = map[string]*mvccpb.KeyValue{}
	w.forget()
	if a.Node != nil {
		w.collect(a.Node.Nodes, &listed)
	}
	w.mu.Unlock()
	slices.SortFunc(listed.KVs, func(a, b *mvccpb.KeyValue) int { return strings.Compare(string(a.Key), string(b.Key)) })
	if listed.Gap {
		w.lost(fmt.Errorf("the changes after index %d are lost: they are too many, etcd was restored from a snapshot, or another cluster responds", w.index), true)
	}
	w.cluster, w.index = a.cluster, a.index
	w.emit(listed)
	w.live()
	return nil
}

// collect adds the keys of queues in the ranges.
func (w *watchV2) collect(nodes []nodeV2, into *Listed) {
	for i := range nodes {
		n := &nodes[i]
		if w.queued(n) {
			kv := n.kv()
			into.KVs, w.keys[n.Key] = append(into.KVs, kv), kv
			w.renew(n, w.leases[n.number()].granted)
		}
		w.collect(n.Nodes, into)
	}
}

// queued reports whether a node is a key of a queue in the ranges.
func (w *watchV2) queued(n *nodeV2) bool {
	return n.number() > 0 && w.ranges.Contains(n.Key)
}

// renew remembers the TTL of a key, of which etcd reports what remains, rounded up to seconds.
func (w *watchV2) renew(n *nodeV2, granted time.Duration) {
	w.leases[n.number()] = leaseV2{key: n.Key, granted: granted, expires: time.Now().Add(time.Duration(n.TTL-1) * time.Second)}
}

// next waits for the next change. If there is none for a while, it asks whether most members of etcd respond.
func (w *watchV2) next(ctx context.Context) error {
	if w.index == 0 {
		return w.list(ctx)
	}
	wait := beat
	if w.stale != "" {
		wait = 5 * retry
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	a, err := w.do(waiting, http.MethodGet, w.folder, url.Values{
		"recursive": {"true"}, "wait": {"true"}, "waitIndex": {strconv.FormatInt(w.index+1, 10)},
	})
	if waiting.Err() != nil {
		if a.cluster == w.cluster && time.Since(a.at) > wait/2 { // otherwise, a change may have been on its way
			w.index = max(w.index, a.index) // etcd keeps only the last 1000 changes of all keys
		}
		asking, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		a, err = w.do(asking, http.MethodGet, w.folder+"electop", url.Values{"quorum": {"true"}})
		a.Node = nil
		if asking.Err() != nil {
			err = errSilent
		}
	}
	switch {
	case errors.Is(err, errAgain):
		return w.list(ctx)
	case err != nil:
		return err
	case a.cluster != w.cluster || a.index < w.index:
		return w.list(ctx)
	case a.Node == nil:
		w.live()
		return nil
	}
	if a.index < a.Node.ModifiedIndex { // the change took place after the request
		w.live()
	}
	w.index = a.Node.ModifiedIndex
	w.change(&a)
	return nil
}

// change reports a change. The end of a folder ends the keys below it.
func (w *watchV2) change(a *answerV2) {
	n, events := a.Node, []*mvccpb.Event(nil)
	w.mu.Lock()
	w.forget()
	if a.Action == "delete" || a.Action == "compareAndDelete" || a.Action == "expire" {
		for _, key := range slices.Sorted(maps.Keys(w.keys)) {
			if key != n.Key && !strings.HasPrefix(key, n.Key+"/") {
				continue
			}
			number := w.keys[key].CreateRevision
			if lease := w.leases[number]; a.Action == "expire" {
				lease.expired = true
				w.leases[number] = lease
			}
			events = append(events, &mvccpb.Event{Type: mvccpb.DELETE, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: w.index}})
			delete(w.keys, key)
		}
	} else if w.queued(n) {
		w.renew(n, time.Duration(n.TTL)*time.Second)
		kv, before := n.kv(), w.keys[n.Key]
		if w.keys[n.Key] = kv; before == nil || !bytes.Equal(before.Value, kv.Value) || before.Lease != kv.Lease {
			events = append(events, &mvccpb.Event{Type: mvccpb.PUT, Kv: kv})
		}
	}
	w.mu.Unlock()
	if len(events) > 0 {
		w.emit(Changed{w.index, events})
	}
}

// forget removes the TTLs of keys that ended long ago.
func (w *watchV2) forget() {
	maps.DeleteFunc(w.leases, func(_ int64, l leaseV2) bool { return time.Since(l.expires) > time.Minute })
}

// Lease reports the TTL of a key. It does not ask etcd: each renewal is a change. The lease of a key that a client deleted
// exists until its TTL has passed.
func (v *V2) Lease(_ context.Context, id int64, keys bool) (Lease, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known, ok := v.leases[id]
	switch {
	case !ok:
		return Lease{}, rpctypes.ErrLeaseNotFound
	case known.expired:
		return Lease{Remaining: -1}, rpctypes.ErrLeaseNotFound
	}
	lease := Lease{Granted: known.granted, Remaining: max(0, time.Until(known.expires))}
	if keys {
		lease.Keys = []string{known.key}
	}
	return lease, nil
}

// Leases returns none: not all keys with a TTL are read.
func (v *V2) Leases(context.Context) ([]string, error) { return nil, nil }

// Release deletes the first key of a queue, if it is that of the target's session, and returns when etcd confirms that it is
// gone. The error is [election.ErrMoved] if another key is the first.
func (v *V2) Release(ctx context.Context, t election.Target) error {
	a, err := v.do(ctx, http.MethodGet, t.Key, url.Values{"quorum": {"true"}, "sorted": {"true"}})
	if err != nil {
		return err
	}
	var first nodeV2
	for i := 0; a.Node != nil && i < len(a.Node.Nodes) && first.number() == 0; i++ {
		first = a.Node.Nodes[i]
	}
	if number, err := leaseID(t.Session); err != nil || number == 0 || first.number() != number {
		return fmt.Errorf("%w: the first key is %q", election.ErrMoved, first.Key)
	}
	a, err = v.do(ctx, http.MethodDelete, first.Key, nil)
	switch {
	case err == nil && a.ErrorCode == notFoundV2:
		return fmt.Errorf("%w: %s has ended", election.ErrMoved, first.Key)
	case err != nil && a.Message != "" && a.ErrorCode < uncertainV2:
		return err
	}
	if err == nil {
		a, err = v.do(ctx, http.MethodGet, first.Key, url.Values{"quorum": {"true"}})
	}
	if err == nil && a.ErrorCode != notFoundV2 {
		err = errors.New("a read afterwards does not show it")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", election.ErrUnknown, err)
	}
	return nil
}

// Revoke is refused.
func (*V2) Revoke(context.Context, int64) error {
	return failure{errors.New("etcd's v2 API has no leases"), election.ErrRefused}
}
