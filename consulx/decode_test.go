package consulx

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"electop/election"
)

// consulsLists contains lists of keys in the format that Consul writes.
var consulsLists = []string{
	`[{"LockIndex":1,"Key":"service/web/leader","Flags":0,"Value":"d2ViLTE=","Session":"695bfbd0-6350-7587-addf-a18084928f3c","CreateIndex":40,"ModifyIndex":13061}]`,
	`[{"LockIndex":0,"Key":"a","Flags":18446744073709551615,"Value":null,"CreateIndex":1,"ModifyIndex":1},{"LockIndex":0,"Key":"b","Flags":0,"Value":"","CreateIndex":2,"ModifyIndex":2}]`,
	`[{"LockIndex":0,"Key":"a","Flags":0,"Value":"//+/","Partition":"default","Namespace":"default","CreateIndex":1,"ModifyIndex":1}]`,
}

// otherLists contains texts in other formats, valid and invalid.
var otherLists = []string{
	`]`,
	`[]`, `null`, ``, ` [ ] `, `[`, `[]x`, `{}`, `[null]`, `[{}]`, `[{},{}]`, `[1]`, `[,]`, `[}]`, `[{"Key":"a"]`, `[{"Key":"a"}}`, `[{]`, `[{,}]`,
	"[\n    {\n        \"Key\": \"a\",\n        \"Value\": \"eA==\"\n    }\n]\n",
	`[{"Key":"\u001b[2J\u003cb\u003e\"\\\/","Value":"eA=="}]`,
	`[{"Key":"` + "\u009b2J\u202e\xff\x7f" + `","Session":"\ud800\udc00\ud800"}]`,
	`[{"Flags":18446744073709551616}]`, `[{"Flags":-1}]`, `[{"Flags":1.0}]`, `[{"Flags":1e3}]`, `[{"Flags":01}]`, `[{"Flags":"1"}]`, `[{"Flags":}]`,
	`[{"Key":"a","Key":"b"}]`, `[{"Value":"eA==","Value":null}]`, `[{"Value":"0","Value":null}]`, `[{"Value":"0","Value":"eA=="}]`, `[{"key":"a","VALUE":"eA=="}]`, `[{"Key":null,"Session":null,"Flags":null}]`,
	`[{"New":{"a":[1,2]},"Key":"a"}]`, `[{"Namespace":1}]`,
	`[{"Value":"e A=="}]`, `[{"Value":"eA="}]`, `[{"Value":"e\nA=="}]`, "[{\"Value\":\"e\nA==\"}]", "[{\"Value\":\"eA==\r\"}]", `[{"Value":"eB=="}]`,
	`[{"Value":"eA\u003d="}]`, `[{"Value":nullx}]`, `[{"Value":null1}]`,
	`[{"Key":"a",}]`, `[{"Key":"a"},]`, `[{"Key" "a"}]`, `[{"Key":"a"} {"Key":"b"}]`, "[{\"Key\":\"a\tb\"}]", `[{"Key":"a\x"}]`, `[{"Key":"a`, `[{"Key":"a"}`,
	`[{"Key":"b"},{"Key":"a","Value":"eA=="}]`,
	"[{}\v]", "\f[{}]", "[{}]\u0085", "[{}\u00a0]",
}

// FuzzPairs compares the result with that of encoding/json, with and without a previous list, except that null is an
// error. Between the two decodings it overwrites the first text, because the next response reuses its buffer.
func FuzzPairs(f *testing.F) {
	all := slices.Concat(consulsLists, otherLists)
	for i, text := range all {
		f.Add([]byte(text), []byte(all[(i+1)%len(all)]))
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, text, earlier []byte) {
		var want []*election.Pair
		wantErr := json.Unmarshal(text, &want)
		if wantErr == nil && (want == nil || slices.Contains(want, nil)) {
			wantErr = errors.New("null is no key")
		}
		read := bytes.Clone(earlier)
		before, _ := DecodePairs(decoder(read), PairList{}, every) // the content of this list does not matter
		clear(read)
		read = bytes.Clone(text)
		got, err := DecodePairs(decoder(read), before, every)
		clear(read)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%q: error %v, want %v", text, err, wantErr)
		}
		if err == nil && !slices.EqualFunc(got.Pairs, want, func(a, b *election.Pair) bool { return reflect.DeepEqual(a, b) }) {
			t.Fatalf("%q after %q:\n got %+v\nwant %+v", text, earlier, got.Pairs, want)
		}
	})
}

func every(*election.Pair) bool { return true }

func TestUnchangedPairsAreNotDecodedAgain(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		read := func(before PairList) (list PairList) {
			_, err := b.client.Get("/v1/kv/"+p, url.Values{"recurse": {""}}, b.client.Read(t.Context()), b.client.Buffered(func(body *jsontext.Decoder) (err error) {
				list, err = DecodePairs(body, before, every)
				return err
			}))
			must(t, err)
			return list
		}
		for _, key := range []string{"a", "b/leader", "d"} {
			b.Put(p+key, "value")
		}
		first := read(PairList{})
		b.Put(p+"b/leader", "other")
		b.Put(p+"c", "value")
		second := read(first)
		if got := second.Pairs; len(got) != 4 || got[0] != first.Pairs[0] || got[3] != first.Pairs[2] ||
			string(got[1].Value) != "other" || string(first.Pairs[1].Value) != "value" {
			t.Errorf("%+v after %+v", got, first.Pairs)
		}
		b.Delete(p + "a")
		if got := read(second).Pairs; len(got) != 3 || got[2] != second.Pairs[3] {
			t.Errorf("%+v after %+v", got, second.Pairs)
		}
	})
}
