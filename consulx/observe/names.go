package observe

import (
	"context"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/blocking"
	"electop/consulx/observe/internal/shard"
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
	names []shard.Key
	at    time.Time // time of the read
	gap   bool      // set if the connection was lost before this read, so the list may be old
}

// namePoller lists all names. It detects keys that no shard reads, and deletions that did not end the query of a
// shard.
type namePoller struct {
	link
	prefix string
	tell   func(listing)
	names  []shard.Key
}

func newNamePoller(o *Observer, prefix string, tell func(listing)) *namePoller {
	part := election.Part{Kind: election.PartNames, Range: election.PrefixRange(prefix)}
	return &namePoller{link: link{o: o, source: "names under " + prefix, part: part}, prefix: prefix, tell: tell}
}

func (n *namePoller) Poll(q blocking.Query) (*api.QueryMeta, error) {
	names, meta, err := readNames(n.o.client.Reader(q.Reserved), n.prefix, n.o.Patterns(), q.QueryOptions)
	if err == nil {
		n.names = names
	}
	return meta, err
}

func (n *namePoller) Accept(_ context.Context, a blocking.Answer) (bool, error) {
	n.restore(a)
	n.tell(listing{names: n.names, at: time.Now(), gap: a.Gap})
	return true, nil
}

func (n *namePoller) Failed(err error, retryAt time.Time) {
	n.lose(err, retryAt)
}

// rest returns the pause between two lists of names.
func (n *namePoller) rest() time.Duration { return namesRest(len(n.names)) }

func namesRest(names int) time.Duration {
	return min(max(time.Duration(names)*namesPace, namesPaceMin), namesPaceMax)
}
