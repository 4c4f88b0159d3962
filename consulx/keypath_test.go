package consulx_test

import (
	"testing"

	"electop/consulx"
)

func TestLiteral(t *testing.T) {
	for key, want := range map[string]bool{
		"a": true, "a/b": true, "a/b/": true, "a/.b": true, "a b?#%2f": true, "ü": true,
		"": false, "ü\x1b": false, "a\u202e/b": false, "a\u00ad": false, "/a": false, "a//b": false, "a/./b": false, "a/..": false, "..": false, ".": false,
	} {
		if got := consulx.Literal(key); got != want {
			t.Errorf("consulx.Literal(%q) = %t, want %t", key, got, want)
		}
	}
}

func TestLiteralPrefixEndsBeforeCharactersThatConsulRejects(t *testing.T) {
	for prefix, want := range map[string]string{
		"service/web/": "service/web/", "service/\x1b[2J/leader": "service/", "service/ü\n": "service/ü", "a//b\x00": "a/", "a\u202e//": "a",
	} {
		if got := consulx.LiteralPrefix(prefix); got != want {
			t.Errorf("consulx.LiteralPrefix(%q) = %q, want %q", prefix, got, want)
		}
	}
}
