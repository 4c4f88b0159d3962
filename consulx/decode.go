package consulx

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"strings"

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
func DecodePairs(from *bufio.Reader, before PairList, keep func(*election.Pair) bool) (list PairList, err error) {
	known := len(before.sums)
	list.Pairs, list.sums = make([]*election.Pair, 0, known+1), make([]uint64, 0, known+1)
	next, err := symbol(from)
	if err == nil && next != '[' {
		err = errNoList
	}
	if err == nil {
		next, err = symbol(from)
	}
	if err == nil && next != ']' {
		next, err = ',', from.UnreadByte()
	}
	for i := 0; err == nil && next == ','; next, err = symbol(from) {
		text, err := readPair(from)
		if err != nil {
			return PairList{}, err
		}
		sum := maphash.Bytes(seed, text)
		var p *election.Pair
		if i < known && before.sums[i] == sum {
			p = before.Pairs[i]
		} else {
			var whole bool
			if p, whole, err = decodePair(text, from); err != nil {
				return PairList{}, err
			}
			if !keep(p) {
				continue
			}
			if !whole {
				sum = ^sum // matches no text, so the pair is decoded again
			}
		}
		list.Pairs, list.sums = append(list.Pairs, p), append(list.sums, sum)
		for i < known && before.Pairs[i].Key <= p.Key {
			i++
		}
	}
	if err == nil && next == ']' {
		if _, err = symbol(from); errors.Is(err, io.ErrUnexpectedEOF) {
			return list, nil
		}
	}
	return PairList{}, cmp.Or(err, errNoList)
}

var errNoList = NotConsul("it is not a list of keys")

// symbol reads the next byte that is not white space. Development agents send indented JSON. At the end of the text, the
// error is [io.ErrUnexpectedEOF].
func symbol(from *bufio.Reader) (byte, error) {
	for {
		b, err := from.ReadByte()
		if err != nil || !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, unfinished(err)
		}
	}
}

// readPair reads the text up to the next closing brace. The text is valid until the next read.
func readPair(from *bufio.Reader) ([]byte, error) {
	text, err := from.ReadSlice('}')
	if errors.Is(err, bufio.ErrBufferFull) {
		text = bytes.Clone(text)
		var rest []byte
		rest, err = from.ReadBytes('}')
		text = append(text, rest...)
	}
	return text, unfinished(err)
}

// mostBraces limits the attempts to decode a pair whose key contains closing braces.
const mostBraces = 1000

// decodePair decodes a pair. If its text is incomplete, decodePair reads up to the next closing brace, and whole is false.
func decodePair(text []byte, from *bufio.Reader) (p *election.Pair, whole bool, err error) {
	for braces := range mostBraces {
		p = &election.Pair{}
		if err = jsonv2.Unmarshal(text, p, election.JSONOptions); err == nil {
			return p, braces == 0, nil
		}
		if _, cut := jsontext.NewDecoder(bytes.NewReader(text)).ReadValue(); !errors.Is(cut, io.ErrUnexpectedEOF) {
			break
		}
		text = bytes.Clone(text)
		rest, err := readPair(from)
		if err != nil {
			return p, false, err
		}
		text = append(text, rest...)
	}
	return p, false, err
}

func unfinished(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Part returns the pairs with the indexes in the half-open range [from, to).
func (l PairList) Part(from, to int) PairList {
	l.Pairs = l.Pairs[from:to:to]
	if len(l.sums) > 0 {
		l.sums = l.sums[from:to:to]
	}
	return l
}
