package election

import "testing"

func TestParent(t *testing.T) {
	for key, want := range map[string]string{
		"service/web/leader": "service/web/", "leader": "", "": "", "a/": "a/", "/x": "/", "a//b": "a//",
	} {
		if got := Parent(key); got != want {
			t.Errorf("Parent(%q) = %q, want %q", key, got, want)
		}
	}
}
