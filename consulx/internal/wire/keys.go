package wire

import (
	"bytes"
	"encoding/json"
	"hash/maphash"

	"electop/election"
)

// List is a decoded list of keys.
type List struct {
	Pairs []election.Pair
	// sums contains the hash of each pair's JSON text. It is empty if the hashes are unknown.
	sums []uint64
	seed maphash.Seed
}

// Pairs decodes a list of keys (GET /v1/kv/:prefix?recurse). Pairs with unchanged JSON text are reused from the
// previous list, because decoding is the most expensive step after a change among 10,000 elections (`make bench`).
func Pairs(text []byte, before List) (List, error) {
	if list, ok := decodeEach(text, before); ok {
		return list, nil
	}
	var list List
	err := json.Unmarshal(text, &list.Pairs)
	return list, err
}

// shortestPair is less than the number of bytes in the JSON text of a pair. It limits the memory that is allocated for
// a response with many closing braces in its keys.
const shortestPair = 80

// decodeEach decodes each pair separately, up to the next closing brace. It returns false if a key contains a closing
// brace, because the text up to that brace is not valid JSON.
func decodeEach(text []byte, before List) (list List, ok bool) {
	rest, open := bytes.CutPrefix(bytes.Trim(text, space), []byte("["))
	known := len(before.sums)
	if list.seed = before.seed; known == 0 {
		list.seed = maphash.MakeSeed()
	}
	count := min(bytes.Count(text, []byte("}")), len(text)/shortestPair+1)
	list.Pairs, list.sums = make([]election.Pair, 0, count), make([]uint64, 0, count)
	for i := 0; open; {
		pair, after, complete := bytes.Cut(rest, []byte("}"))
		if !complete {
			return List{}, false
		}
		sum := maphash.Bytes(list.seed, pair)
		if i < known && before.sums[i] == sum {
			list.add(before.Pairs[i], sum)
			i++
		} else {
			var p election.Pair
			if json.Unmarshal(rest[:len(pair)+1], &p) != nil {
				return List{}, false
			}
			list.add(p, sum)
			for i < known && before.Pairs[i].Key <= p.Key {
				i++
			}
		}
		rest, open = bytes.CutPrefix(bytes.TrimLeft(after, space), []byte(","))
	}
	return list, len(list.Pairs) > 0 && string(bytes.Trim(rest, space)) == "]"
}

// space is the white space that JSON allows. Development agents send indented JSON.
const space = " \t\r\n"

func (l *List) add(p election.Pair, sum uint64) {
	l.Pairs, l.sums = append(l.Pairs, p), append(l.sums, sum)
}

// Part returns the pairs with the indexes in the half-open range [from, to).
func (l List) Part(from, to int) List {
	l.Pairs = l.Pairs[from:to:to]
	if len(l.sums) > 0 {
		l.sums = l.sums[from:to:to]
	}
	return l
}

// Keep deletes the pairs for which keep returns false.
func (l *List) Keep(keep func(*election.Pair) bool) {
	kept := List{Pairs: l.Pairs[:0], sums: l.sums[:0], seed: l.seed}
	for i := range l.Pairs {
		switch {
		case !keep(&l.Pairs[i]):
		case len(l.sums) == 0:
			kept.Pairs = append(kept.Pairs, l.Pairs[i])
		default:
			kept.add(l.Pairs[i], l.sums[i])
		}
	}
	clear(l.Pairs[len(kept.Pairs):])
	*l = kept
}
