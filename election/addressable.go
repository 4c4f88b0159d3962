package election

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Addressable reports whether a request can address the key. Consul replaces invalid UTF-8 in its responses with
// U+FFFD, so a request for the returned key finds no key or a different key.
func Addressable(key string) bool {
	for i := range len(key) {
		if key[i] >= utf8.RuneSelf {
			return utf8.ValidString(key) && !strings.ContainsRune(key, utf8.RuneError)
		}
	}
	return true
}

// ID identifies the election: its key, followed by the CreateIndex if the key is not [Addressable].
func (e *Election) ID() string { return electionID(e.Key(), e.Pair.CreateIndex, e.Unaddressable) }

func electionID(key string, createIndex uint64, unaddressable bool) string {
	if !unaddressable {
		return key
	}
	return key + idMark + strconv.FormatUint(createIndex, 10)
}

// idMark separates the key from the CreateIndex in an [Election.ID].
const idMark = "\x00#"

// Compare orders elections by key, then by CreateIndex, as in [Snapshot.Elections].
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

// ComparePairs orders pairs by key, then by CreateIndex, as in [KeysRead.Pairs].
func ComparePairs(a, b Pair) int {
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return compareUint(a.CreateIndex, b.CreateIndex)
}
