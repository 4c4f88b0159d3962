package redact_test

import (
	"testing"

	"electop/internal/redact"
)

// A short secret is hidden only as a whole word. Words that contain it remain.
func TestShortSecretsLeaveOtherWordsAlone(t *testing.T) {
	s := redact.New("no", "\xff")
	if got := s.Redact("no node knows (no), nor does 2no or no"); got != "<hidden> node knows (<hidden>), nor does 2no or <hidden>" {
		t.Errorf("got %s", got)
	}
}
