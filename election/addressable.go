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

// ID identifies an election by its datacenter and key, and by its CreateIndex if the key is not [Addressable]. An ID
// without a datacenter identifies the first matching election of any datacenter. ID is a separate type, so that no
// plain key is used as an ID: the same key can exist in several datacenters.
type ID string

// ID identifies the election.
func (e *Election) ID() ID { return newID(e.Datacenter, e.Ident()) }

// ID identifies the election of the target. It is empty if the target is a session without an election.
func (t Target) ID() ID { return newID(t.Datacenter, ident(t.Key, t.CreateIndex, !Addressable(t.Key))) }

// ElectionID returns the [Election.ID] of the event's election. It is empty if the event has no election.
func (e Event) ElectionID() ID { return newID(e.Datacenter, e.Ident()) }

// Of reports whether id is the ID of the election e. Unlike a comparison of two IDs, it allocates no memory.
func (id ID) Of(e *Election) bool {
	n, ident := len(e.Datacenter), e.Ident()
	return len(id) == n+len(datacenterMark)+len(ident) && string(id[:n]) == e.Datacenter &&
		string(id[n:n+len(datacenterMark)]) == datacenterMark && string(id[n+len(datacenterMark):]) == ident
}

// KeyID returns the ID of the first election with this key, in any datacenter.
func KeyID(key string) ID { return ID(datacenterMark + key) }

func newID(datacenter, ident string) ID {
	if ident == "" {
		return ""
	}
	return ID(datacenter + datacenterMark + ident)
}

// Ident returns the election's key, followed by the CreateIndex if the key is not [Addressable]. The result identifies
// the election within its datacenter.
func (e *Election) Ident() string { return ident(e.Key(), e.Pair.CreateIndex, e.Unaddressable) }

// Ident returns the [Election.Ident] of the event's election. It is empty if the event has no election.
func (e Event) Ident() string { return ident(e.Key, e.CreateIndex, !Addressable(e.Key)) }

func ident(key string, createIndex uint64, unaddressable bool) string {
	if !unaddressable {
		return key
	}
	return key + indexMark + strconv.FormatUint(createIndex, 10)
}

// datacenterMark separates the datacenter from the key in an [ID]. indexMark separates the key from the CreateIndex.
// The name of a datacenter contains no NUL.
const (
	datacenterMark = "\x00"
	indexMark      = "\x00#"
)

// identity is the content of an [ID].
type identity struct {
	datacenter, key string
	createIndex     uint64
	indexed         bool // set if createIndex is known
}

func (id ID) parse() identity {
	datacenter, key, qualified := strings.Cut(string(id), datacenterMark)
	if !qualified {
		return identity{key: string(id)}
	}
	of := identity{datacenter: datacenter, key: key}
	if key, text, marked := cutLast(key, indexMark); marked && !Addressable(key) {
		n, err := strconv.ParseUint(text, 10, 64)
		of.key, of.createIndex, of.indexed = key, n, err == nil
	}
	return of
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// identifies reports whether the identity matches e. The caller compares the keys. An empty datacenter matches every
// datacenter.
func (of identity) identifies(e *Election) bool {
	return (of.datacenter == "" || e.Datacenter == "" || of.datacenter == e.Datacenter) &&
		(!of.indexed || e.Unaddressable && of.createIndex == e.Pair.CreateIndex)
}

// Compare orders elections by key, then by datacenter and CreateIndex, as in [Snapshot.Elections].
func Compare(a, b *Election) int {
	if c := strings.Compare(a.Key(), b.Key()); c != 0 {
		return c
	}
	if c := strings.Compare(a.Datacenter, b.Datacenter); c != 0 || !a.Unaddressable {
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
