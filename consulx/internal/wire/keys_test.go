package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"electop/election"
	"electop/internal/consultest"
)

func TestMain(m *testing.M) { consultest.Main(m) }

// consulsLists are lists of keys as Consul writes them.
var consulsLists = []string{
	`[{"LockIndex":1,"Key":"service/web/leader","Flags":0,"Value":"d2ViLTE=","Session":"695bfbd0-6350-7587-addf-a18084928f3c","CreateIndex":40,"ModifyIndex":13061}]`,
	`[{"LockIndex":0,"Key":"a","Flags":18446744073709551615,"Value":null,"CreateIndex":1,"ModifyIndex":1},{"LockIndex":0,"Key":"b","Flags":0,"Value":"","CreateIndex":2,"ModifyIndex":2}]`,
	`[{"LockIndex":0,"Key":"a","Flags":0,"Value":"//+/","Partition":"default","Namespace":"default","CreateIndex":1,"ModifyIndex":1}]`,
}

// otherLists are further texts, with and without errors.
var otherLists = []string{
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
}

// FuzzPairs compares with encoding/json, for which the list read before does not
// matter. The text is overwritten afterwards, as the next response does.
func FuzzPairs(f *testing.F) {
	all := slices.Concat(consulsLists, otherLists)
	for i, text := range all {
		f.Add([]byte(text), []byte(all[(i+1)%len(all)]))
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, text, earlier []byte) {
		var want, before []election.Pair
		wantErr := json.Unmarshal(text, &want)
		_ = json.Unmarshal(earlier, &before) // any list will do
		slices.SortFunc(before, election.ComparePairs)
		read := bytes.Clone(text)
		got, err := Pairs(read, before)
		clear(read)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%q: error %v, want %v", text, err, wantErr)
		}
		if err == nil && len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q after %q:\n got %+v\nwant %+v", text, earlier, got, want)
		}
	})
}

func FuzzNames(f *testing.F) {
	for _, text := range []string{
		`[]`, `null`, ``, `["a","b/c"]`, `["\u001b","\ud800"]`, "[\"\xff\u202e\"]", `["a",]`, `[1]`, `[null,"a"]`, "[\n \"a\"\n]\n", `["a"]x`, `["a`, `[`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want []string
		wantErr := json.Unmarshal(text, &want)
		read := bytes.Clone(text)
		got, err := Names(read)
		clear(read)
		if (err != nil) != (wantErr != nil) || err == nil && !slices.Equal(got, want) {
			t.Fatalf("%q: %q, %v; want %q, %v", text, got, err, want, wantErr)
		}
	})
}

func TestConsulsFormIsScanned(t *testing.T) {
	for _, text := range consulsLists {
		if _, ok := scanPairs([]byte(text), nil); !ok {
			t.Errorf("encoding/json had to decode %s", text)
		}
	}
	if _, ok := scanNames([]byte(`["a","service/web/leader"]`)); !ok {
		t.Error("encoding/json had to decode a list of names")
	}
}

// Consul's present version still writes that form.
func TestConsulsResponsesAreScanned(t *testing.T) {
	consultest.OnBoth(t, func(t *testing.T, addr string) {
		for _, key := range []string{"wire/a", "wire/b/leader"} {
			if code, text := send(t, http.MethodPut, addr, key, "value"); code != http.StatusOK {
				t.Fatal(code, text)
			}
		}
		_, text := send(t, http.MethodGet, addr, "wire/?recurse", "")
		if pairs, ok := scanPairs([]byte(text), nil); !ok || len(pairs) != 2 || string(pairs[1].Value) != "value" {
			t.Errorf("encoding/json had to decode %s", text)
		}
		_, text = send(t, http.MethodGet, addr, "wire/?keys", "")
		if names, ok := scanNames([]byte(text)); !ok || len(names) != 2 {
			t.Errorf("encoding/json had to decode %s", text)
		}
	})
}

func send(t *testing.T, method, addr, key, body string) (code int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+"/v1/kv/"+key, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

func TestUnchangedPairsAreNotCopied(t *testing.T) {
	text := []byte(consulsLists[0])
	before, _ := Pairs(text, nil)
	if got, err := Pairs(text, before); err != nil || &got[0].Value[0] != &before[0].Value[0] {
		t.Errorf("the value was copied, or %v", err)
	}
	changed, err := Pairs(bytes.Replace(text, []byte("d2ViLTE="), []byte("d2ViLTI="), 1), before)
	if err != nil || string(changed[0].Value) != "web-2" || string(before[0].Value) != "web-1" {
		t.Errorf("another value with the same indexes: %s after %s, %v", changed[0].Value, before[0].Value, err)
	}
}
