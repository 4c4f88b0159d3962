package consulx

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"electop/election"
)

// list returns the response to a query for the keys of a shard with 10,000 elections.
func list(b *testing.B) []byte {
	b.Helper()
	var list []map[string]any
	for i := range 213 {
		list = append(list, map[string]any{
			"LockIndex": 3, "Key": fmt.Sprintf("service/svc-%05d/leader", i), "Flags": 0,
			"Value":   base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"name":"svc-%05d-1","address":"10.1.2.%d:8080"}`, i, i)),
			"Session": fmt.Sprintf("adf4238a-882b-9ddc-4a9d-5b6758e4%04x", i), "CreateIndex": 1000 + i, "ModifyIndex": 200000 + i,
		})
	}
	text, err := json.Marshal(list)
	must(b, err)
	return text
}

// BenchmarkPairs decodes a response in which most pairs are unchanged.
func BenchmarkPairs(b *testing.B) {
	text := list(b)
	before, err := DecodePairs(decoder(text), PairList{}, every)
	must(b, err)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, err = DecodePairs(decoder(text), before, every)
		must(b, err)
	}
}

func decoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(text), election.JSONOptions)
}
