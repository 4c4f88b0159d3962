package observe

import (
	"bytes"
	"context"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

const (
	// A list of names is as expensive as several reads of a shard, so these constants limit how often the names are
	// listed, depending on the number of names.
	namesPace    = 60 * time.Microsecond
	namesPaceMin = 50 * time.Millisecond
	namesPaceMax = 3 * time.Second
)

// listing contains the names of all keys under a prefix.
type listing struct {
	names []listedKey
	at    time.Time // time of the read
	gap   bool      // set if the connection was lost before this read, so the list may be old
}

// keepNewest sends a list to a channel of capacity 1 and never blocks. The list replaces a list that the receiver has
// not received yet.
func keepNewest(lists chan listing, l listing) {
	select {
	case before := <-lists:
		l.gap = l.gap || before.gap
	default:
	}
	lists <- l
}

// namePoller lists all names. It detects keys that no shard reads, and deletions that did not end the query of a
// shard.
type namePoller struct {
	link
	prefix string
	lists  chan listing // has capacity 1
	names  []listedKey  // sorted
	sum    uint64       // the hash of the response with these names
	text   bytes.Buffer // of the latest response
}

func (n *namePoller) Poll(q *api.QueryOptions) (*api.QueryMeta, error) {
	keys, sum, meta, err := n.o.client.Reader(q).KeyNamesUnless(n.prefix, n.sum, &n.text, q)
	if err == nil && (sum != n.sum || sum == 0) {
		ps := n.o.Patterns()
		n.sum, n.names = sum, unite(election.Map(keys, func(key string) listedKey {
			return listedKey{Name: key, Election: ps.Selects(key)}
		}))
	}
	return meta, err
}

func (n *namePoller) Accept(ctx context.Context, a consulx.Answer) (bool, error) {
	n.restore(a)
	keepNewest(n.lists, listing{names: n.names, at: time.Now(), gap: a.Gap})
	consulx.Sleep(ctx, min(max(time.Duration(len(n.names))*namesPace, namesPaceMin), namesPaceMax))
	return true, nil
}
