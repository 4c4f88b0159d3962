package election

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Addressable reports whether a key that Consul returned can be asked for again.
// Consul replaces bytes that are not UTF-8 with U+FFFD, so several keys may look
// like one: a request for the text reaches none of them, or another key.
func Addressable(key string) bool {
	for i := range len(key) {
		if key[i] >= utf8.RuneSelf {
			return utf8.ValidString(key) && !strings.ContainsRune(key, utf8.RuneError)
		}
	}
	return true
}

// ID identifies the election among all that are watched: its key, and for keys
// that cannot be distinguished also their CreateIndex.
func (e *Election) ID() string { return electionID(e.Key(), e.Pair.CreateIndex, e.Unaddressable) }

func electionID(key string, createIndex uint64, unaddressable bool) string {
	if !unaddressable {
		return key
	}
	return key + idMark + strconv.FormatUint(createIndex, 10)
}

// idMark separates the CreateIndex of an [Election.ID].
const idMark = "\x00#"

// Compare orders elections as snapshots do: by key, then by CreateIndex.
func Compare(a, b *Election) int {
	if c := strings.Compare(a.Key(), b.Key()); c != 0 || !a.Unaddressable {
		return c
	}
	return compareUint(a.Pair.CreateIndex, b.Pair.CreateIndex)
}

func compareUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ComparePairs is the order of [KeysRead.Pairs].
func ComparePairs(a, b Pair) int {
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return compareUint(a.CreateIndex, b.CreateIndex)
}

// precedes reports that an election stands before a pair that is another key.
func precedes(e *Election, p *Pair) bool {
	if e.Key() == p.Key {
		return e.Unaddressable && e.Pair.CreateIndex < p.CreateIndex
	}
	return e.Key() < p.Key
}

// sameKey reports that a pair is the election's key. Keys that are equal share their
// text, mostly, and are found equal at once.
func sameKey(e *Election, p *Pair) bool {
	return e.Pair.Key == p.Key && (e.Pair.CreateIndex == p.CreateIndex || !e.Unaddressable)
}

// find gives the place of an election in a sorted list.
func find(all []*Election, key string, createIndex uint64) (int, bool) {
	i, found := slices.BinarySearchFunc(all, key, func(e *Election, key string) int { return strings.Compare(e.Key(), key) })
	for found && all[i].Unaddressable && all[i].Pair.CreateIndex != createIndex {
		i++
		found = i < len(all) && all[i].Key() == key
	}
	return i, found
}
