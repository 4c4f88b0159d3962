package consulx

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/hashicorp/consul/api"
)

// rawPair is a key as it stands in an answer. Its slices are parts of the answer
// and are valid until the next one is read.
type rawPair struct {
	key, session []byte
	value        []byte // base64, unless plain is set
	plain        bool
	flags        uint64
	lockIndex    uint64
	createIndex  uint64
	modifyIndex  uint64
}

// decoded is the value, newly allocated; nil if there is none.
func (p *rawPair) decoded() ([]byte, error) {
	switch {
	case p.value == nil:
		return nil, nil
	case p.plain:
		return bytes.Clone(p.value), nil
	}
	value := make([]byte, base64.StdEncoding.DecodedLen(len(p.value)))
	n, err := base64.StdEncoding.Decode(value, p.value)
	return value[:n:n], err
}

// eachPair gives every key of an answer of /v1/kv to use. It gives the answer to
// encoding/json where it does not look as Consul writes it, so that both read the
// same; use is told to forget what it got with a nil.
func eachPair(text []byte, use func(*rawPair) error) error {
	regular, err := scanPairs(text, use)
	if regular || err != nil {
		return err
	}
	if err := use(nil); err != nil {
		return err
	}
	var pairs api.KVPairs
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	for _, p := range pairs {
		if p == nil {
			continue
		}
		raw := rawPair{
			key: []byte(p.Key), session: []byte(p.Session), value: p.Value, plain: true, flags: p.Flags,
			lockIndex: p.LockIndex, createIndex: p.CreateIndex, modifyIndex: p.ModifyIndex,
		}
		if err := use(&raw); err != nil {
			return err
		}
	}
	return nil
}

// scanPairs reads a list of objects. It reports false as soon as it sees what it
// does not know for sure.
func scanPairs(text []byte, use func(*rawPair) error) (regular bool, err error) {
	s := scanner{text: text}
	var p rawPair
	regular = s.list(func() bool {
		p = rawPair{}
		if !s.pair(&p) {
			return false
		}
		err = use(&p)
		return err == nil
	})
	return regular, err
}

// eachName gives every name of an answer of /v1/kv?keys to use, as eachPair does.
func eachName(text []byte, use func([]byte)) error {
	s := scanner{text: text}
	if s.list(func() bool {
		name, ok := s.str()
		if ok {
			use(name)
		}
		return ok
	}) {
		return nil
	}
	use(nil)
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	for _, name := range names {
		use([]byte(name))
	}
	return nil
}

// scanner reads JSON as Consul writes it. Its methods report false at anything
// else.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) && s.text[s.at] <= ' ' {
		switch s.text[s.at] {
		case ' ', '\n', '\r', '\t':
			s.at++
		default:
			return
		}
	}
}

// take passes over c, and the space before it.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// series reads elements, separated by commas, up to the closing byte.
func (s *scanner) series(closing byte, element func() bool) bool {
	if s.take(closing) {
		return true
	}
	for element() {
		if s.take(closing) {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
	return false
}

// list reads a whole text that is one list.
func (s *scanner) list(element func() bool) bool {
	if !s.take('[') || !s.series(']', element) {
		return false
	}
	s.space()
	return s.at == len(s.text)
}

// The members of a pair, one bit each.
const (
	memberKey = 1 << iota
	memberValue
	memberSession
	memberFlags
	memberLock
	memberCreate
	memberModify
	memberNamespace
	memberPartition
)

func (s *scanner) pair(p *rawPair) bool {
	return s.object(func(name []byte) (bit int, ok bool) {
		switch string(name) {
		case "Key":
			bit = memberKey
			p.key, ok = s.str()
		case "Value":
			bit = memberValue
			p.value, ok = s.base64()
		case "Session":
			bit = memberSession
			p.session, ok = s.str()
		case "Flags":
			bit = memberFlags
			p.flags, ok = s.number()
		case "LockIndex":
			bit = memberLock
			p.lockIndex, ok = s.number()
		case "CreateIndex":
			bit = memberCreate
			p.createIndex, ok = s.number()
		case "ModifyIndex":
			bit = memberModify
			p.modifyIndex, ok = s.number()
		case "Namespace": // Consul Enterprise tells where the key is
			bit = memberNamespace
			_, ok = s.str()
		case "Partition":
			bit = memberPartition
			_, ok = s.str()
		}
		return bit, ok
	})
}

// object reads members, each of which has a bit of its own, 0 for one that is
// not known. One that comes twice is not regular.
func (s *scanner) object(member func(name []byte) (bit int, ok bool)) bool {
	seen := 0
	return s.take('{') && s.series('}', func() bool {
		name, ok := s.str()
		if !ok || !s.take(':') {
			return false
		}
		bit, ok := member(name)
		ok = ok && bit != 0 && seen&bit == 0
		seen |= bit
		return ok
	})
}

// null passes over a null, if one is next.
func (s *scanner) null() bool {
	s.space()
	if !bytes.HasPrefix(s.text[s.at:], []byte("null")) {
		return false
	}
	s.at += len("null")
	return true
}

// str reads a string. One with an escape is decoded by encoding/json.
func (s *scanner) str() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.at
	length := bytes.IndexByte(s.text[start:], '"')
	if length < 0 {
		return nil, false
	}
	if raw := s.text[start : start+length]; plain(raw) {
		s.at += length + 1
		return raw, true
	}
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return unquote(s.text[start-1 : s.at])
		case c < ' ':
			return nil, false
		case c == '\\':
			s.at++
		}
		s.at++
	}
	return nil, false
}

// plain reports printable ASCII without a backslash: it stands for itself. Eight
// bytes are looked at at once.
func plain(text []byte) bool {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		slash := w ^ '\\'*ones
		if (w|(w-' '*ones)&^w|(slash-ones)&^slash)&high != 0 {
			return false
		}
	}
	for _, c := range text {
		if c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func unquote(quoted []byte) ([]byte, bool) {
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil, false
	}
	return []byte(text), true
}

// base64 reads a string that is a value, or null. It is not decoded.
func (s *scanner) base64() ([]byte, bool) {
	if s.null() {
		return nil, true
	}
	if !s.take('"') {
		return nil, false
	}
	length := bytes.IndexByte(s.text[s.at:], '"')
	if length < 0 {
		return nil, false
	}
	raw := s.text[s.at : s.at+length]
	s.at += length + 1
	// Line breaks can't stand in a JSON string as they are, and base64 skips
	// them; escapes would have to be decoded first.
	return raw, bytes.IndexByte(raw, '\\') < 0 && bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0
}

// number reads digits that make a uint64.
func (s *scanner) number() (uint64, bool) {
	s.space()
	start, n := s.at, uint64(0)
	for ; s.at < len(s.text); s.at++ {
		digit := uint64(s.text[s.at]) - '0'
		if digit > 9 {
			break
		}
		if n > (math.MaxUint64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	leadingZero := s.at > start+1 && s.text[start] == '0'
	return n, s.at > start && !leadingZero
}
