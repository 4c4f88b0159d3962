package consulx

import (
	"cmp"
	"errors"
	"hash/maphash"
	"io"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/consul/api"

	"electop/election"
)

// PairOf converts a key of Consul's API.
func PairOf(p *api.KVPair) election.Pair {
	return election.Pair{
		Key: p.Key, Value: p.Value, Flags: p.Flags, Session: p.Session, LockIndex: p.LockIndex,
		CreateIndex: p.CreateIndex, ModifyIndex: p.ModifyIndex,
	}
}

// PairList is a decoded list of keys.
type PairList struct {
	Pairs []*election.Pair
	// sums contains the hash of each pair's JSON text. It is empty if the hashes are unknown.
	sums []uint64
}

//nolint:gochecknoglobals // constant
var seed = maphash.MakeSeed()

// DecodePairs decodes a list of keys (GET /v1/kv/:prefix?recurse) while it arrives. Pairs with unchanged JSON text are
// reused from the previous list, because decoding is the most expensive step after a change among 10,000 elections
// (`make bench`). The list contains the other pairs for which keep returns true.
func DecodePairs(from *jsontext.Decoder, before PairList, keep func(*election.Pair) bool) (list PairList, err error) {
	known := len(before.sums)
	list.Pairs, list.sums = make([]*election.Pair, 0, known+1), make([]uint64, 0, known+1)
	i := 0
	err = decodeList(from, "keys", func() error {
		text, err := from.ReadValue()
		if err != nil {
			return err
		}
		sum := maphash.Bytes(seed, text)
		var p *election.Pair
		if i < known && before.sums[i] == sum {
			p = before.Pairs[i]
		} else {
			p = &election.Pair{}
			if err := jsonv2.Unmarshal(text, p, election.JSONOptions); err != nil || !keep(p) {
				return err
			}
		}
		list.Pairs, list.sums = append(list.Pairs, p), append(list.sums, sum)
		for i < known && before.Pairs[i].Key <= p.Key {
			i++
		}
		return nil
	})
	if err != nil {
		return PairList{}, err
	}
	return list, nil
}

// decodeList calls element for each object of a list. Consul never sends null, or anything else in a list or after it.
func decodeList(from *jsontext.Decoder, of string, element func() error) error {
	other := NotConsul("it is not a list of " + of)
	if begin, err := from.ReadToken(); err != nil || begin.Kind() != '[' {
		return cmp.Or(err, other)
	}
	for from.PeekKind() == '{' {
		if err := element(); err != nil {
			return err
		}
	}
	if end, err := from.ReadToken(); err != nil || end.Kind() != ']' {
		return cmp.Or(err, other)
	}
	if _, err := from.ReadToken(); !errors.Is(err, io.EOF) {
		return cmp.Or(err, other)
	}
	return nil
}

// Part returns the pairs with the indexes in the half-open range [from, to).
func (l PairList) Part(from, to int) PairList {
	l.Pairs = l.Pairs[from:to:to]
	if len(l.sums) > 0 {
		l.sums = l.sums[from:to:to]
	}
	return l
}
