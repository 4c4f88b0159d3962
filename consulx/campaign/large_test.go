package campaign

import (
	"bytes"
	"context"
	"fmt"
	"testing"
)

func TestCandidateGivesUpALargeValue(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		value := bytes.Repeat([]byte("v"), 512<<10)
		for i, giveUp := range []func(*Candidate, context.Context) error{(*Candidate).Resign, (*Candidate).Close} {
			key := fmt.Sprint(b.Prefix(t), i, "/leader")
			c := New(b.client, Options{Key: key, Value: value, Flags: 3, Session: SessionOptions{NodeChecks: []string{}}})
			if _, err := c.Campaign(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := giveUp(c, t.Context()); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if p := b.Get(t, key); p.Session != "" || p.Flags != 3 || !bytes.Equal(p.Value, value) {
				t.Errorf("%d: session %q, flags %d, %d bytes", i, p.Session, p.Flags, len(p.Value))
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}
