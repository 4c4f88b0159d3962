package wire_test

import (
	"testing"

	"electop/consulx/internal/wire"
)

func TestLiteral(t *testing.T) {
	for key, want := range map[string]bool{
		"a": true, "a/b": true, "a/b/": true, "a/.b": true, "a b?#%2f": true, "ü\x1b": true,
		"": false, "/a": false, "a//b": false, "a/./b": false, "a/..": false, "..": false, ".": false,
	} {
		if got := wire.Literal(key); got != want {
			t.Errorf("wire.Literal(%q) = %t", key, got)
		}
	}
}
