package consulx

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/consul/api"
)

// answersSeen are answers as Consul writes them, and some that it does not.
var answersSeen = []string{
	`[]`, `null`, ``, ` [ ] `, `[`, `[]x`, `{}`, `[null]`, `[{}]`, `[{},{}]`, `[1]`,
	`[{"LockIndex":1,"Key":"service/web/leader","Flags":0,"Value":"d2ViLTE=","Session":"695bfbd0-6350-7587-addf-a18084928f3c","CreateIndex":40,"ModifyIndex":13061}]`,
	`[{"LockIndex":0,"Key":"a","Flags":18446744073709551615,"Value":null,"CreateIndex":1,"ModifyIndex":1},{"Key":"b","Value":""}]`,
	"[\n    {\n        \"Key\": \"a\",\n        \"Value\": \"eA==\"\n    }\n]\n",
	`[{"Key":"\u001b[2J\u003cb\u003e\"\\\/","Value":"eA=="}]`,
	`[{"Key":"` + "\u009b2J\u202e\xff" + `","Session":"\ud800\udc00\ud800"}]`,
	`[{"Key":"a","Partition":"default","Namespace":"default"}]`,
	`[{"Key":"a","Flags":18446744073709551616}]`, `[{"Flags":-1}]`, `[{"Flags":1.0}]`, `[{"Flags":1e3}]`, `[{"Flags":01}]`, `[{"Flags":"1"}]`,
	`[{"Key":"a","Key":"b"}]`, `[{"key":"a","VALUE":"eA=="}]`, `[{"Key":null,"Session":null,"Flags":null}]`, `[{"New":{"a":[1,2]},"Key":"a"}]`,
	`[{"Value":"e A=="}]`, `[{"Value":"eA="}]`, `[{"Value":"e\nA=="}]`, "[{\"Value\":\"e\nA==\"}]", `[{"Value":"eA\u003d="}]`, `[{"Value":"nullx"}]`,
	`[{"Key":"a",}]`, `[{"Key":"a"},]`, `[{"Key" "a"}]`, `[{"Key":"a"} {"Key":"b"}]`, "[{\"Key\":\"a\tb\"}]", `[{"Key":"a\x"}]`, `[{"Key":"a`,
	`[{"Value":null1}]`, `[{"Value":"//+/"}]`,
}

// decodeAll reads an answer with eachPair.
func decodeAll(text []byte) (pairs api.KVPairs, err error) {
	err = eachPair(text, func(raw *rawPair) error {
		if raw == nil {
			pairs = nil
			return nil
		}
		value, err := raw.decoded()
		pairs = append(pairs, &api.KVPair{
			Key: string(raw.key), Session: string(raw.session), Value: value, Flags: raw.flags,
			LockIndex: raw.lockIndex, CreateIndex: raw.createIndex, ModifyIndex: raw.modifyIndex,
		})
		return err
	})
	return pairs, err
}

// decodeSame checks that an answer is read as encoding/json reads it.
func decodeSame(t *testing.T, text []byte) {
	t.Helper()
	var want api.KVPairs
	wantErr := json.Unmarshal(text, &want)
	want = slices.DeleteFunc(want, func(p *api.KVPair) bool { return p == nil })
	for _, p := range want {
		p.Namespace, p.Partition = "", ""
	}
	got, err := decodeAll(bytes.Clone(text))
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%q: error %v, want %v", text, err, wantErr)
	}
	if err == nil && (len(got) > 0 || len(want) > 0) && !reflect.DeepEqual(got, want) {
		t.Fatalf("%q:\n got %+v\nwant %+v", text, got, want)
	}
}

func TestAnswersAreReadAsJSONIs(t *testing.T) {
	for _, text := range answersSeen {
		decodeSame(t, []byte(text))
	}
}

func FuzzEachPair(f *testing.F) {
	for _, text := range answersSeen {
		f.Add([]byte(text))
	}
	f.Fuzz(decodeSame)
}

// What Consul writes must not need the slow way.
func TestWhatConsulWritesIsRegular(t *testing.T) {
	for _, text := range []string{
		answersSeen[11], answersSeen[12], answersSeen[13], answersSeen[14], answersSeen[15], answersSeen[16],
	} {
		if regular, err := scanPairs([]byte(text), func(*rawPair) error { return nil }); !regular || err != nil {
			t.Errorf("%s is not regular: %v", text, err)
		}
	}
}

func FuzzEachName(f *testing.F) {
	for _, text := range []string{`[]`, `null`, `["a","b/c"]`, `["\u001b","\ud800"]`, "[\"\xff\u202e\"]", `["a",]`, `[1]`, `[null,"a"]`, "[\n \"a\"\n]\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want, got []string
		wantErr := json.Unmarshal(text, &want)
		err := eachName(bytes.Clone(text), func(name []byte) {
			if name == nil {
				got = nil
				return
			}
			got = append(got, string(name))
		})
		if (err != nil) != (wantErr != nil) || err == nil && !slices.Equal(got, want) {
			t.Fatalf("%q: %q, %v; want %q, %v", text, got, err, want, wantErr)
		}
	})
}

// Keys that did not move are taken from the reading before: nothing of them is
// copied. Where indexes can't be trusted the values decide.
func TestUnmovedPairsAreKept(t *testing.T) {
	text := func(value string, index int) []byte {
		pairs := api.KVPairs{
			{Key: "a/leader", Value: []byte("one"), Session: "s1", ModifyIndex: 5},
			{Key: "a/other", Value: []byte("x"), ModifyIndex: 6},
			{Key: "b/leader", Value: []byte(value), ModifyIndex: uint64(index)},
		}
		raw, err := json.Marshal(pairs)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	read := func(before reading, trust bool, raw []byte) reading {
		c := collector{watch: prefixWatch(""), patterns: patterns(t, "*/leader"), before: before, trust: trust}
		if err := eachPair(raw, c.add); err != nil {
			t.Fatal(err)
		}
		return c.finish(len(raw))
	}
	first := read(reading{}, false, text("two", 7))
	if len(first.pairs) != 2 || len(first.passed) != 1 || string(first.pairs[1].Value) != "two" {
		t.Fatalf("%+v", first)
	}
	second := read(first, true, text("new", 8))
	if &second.pairs[0].Value[0] != &first.pairs[0].Value[0] || string(second.pairs[1].Value) != "new" || second.pairs[1].ModifyIndex != 8 {
		t.Errorf("%+v", second)
	}
	restored := read(first, false, text("old", 7))
	if string(restored.pairs[1].Value) != "old" {
		t.Errorf("a value with the index of another one is %q", restored.pairs[1].Value)
	}
	if &restored.pairs[0].Value[0] != &first.pairs[0].Value[0] {
		t.Error("a value that is as before was copied")
	}
}
