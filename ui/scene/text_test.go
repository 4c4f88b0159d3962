package scene_test

import (
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

func TestCausesHaveTexts(t *testing.T) {
	for _, c := range []election.Cause{
		election.Released, election.CheckCritical, election.CheckGone, election.NodeGone, election.SessionDestroyed,
		election.SessionExpiredOrDestroyed, election.KeyDeleted, election.OperatorRelease, election.OperatorDestroy,
	} {
		if scene.CauseWords(c) == scene.CauseWords(election.Unknown) {
			t.Errorf("%s has no text", c)
		}
	}
}

func TestOperatorOfAnEnd(t *testing.T) {
	for _, tt := range []struct {
		cause          election.Cause
		evidence, want string
	}{
		{election.OperatorRelease, "released with electop", ""},
		{election.OperatorRelease, "released with electop by ana@bastion, drain of d-1", "ana@bastion"},
		{election.OperatorDestroy, "the session was destroyed with electop by ana\x1b@bastion", "ana\u241b@bastion"},
		{election.CheckCritical, "stopped with electop by ana@bastion", ""},
	} {
		if got := scene.Operator(tt.cause, tt.evidence); got != tt.want {
			t.Errorf("%s, %q: %q, want %q", tt.cause, tt.evidence, got, tt.want)
		}
	}
}

func TestTermSpan(t *testing.T) {
	led, overwritten := uitest.Led(1, "web", 1, time.Hour), uitest.Led(1, "web", 1, time.Hour)
	overwritten.Pair.LockIndex = 0
	for want, e := range map[string]*election.Election{"18": led, "18!": overwritten, kit.Unicode().Dash: {Name: "never led"}} {
		if got := (&scene.Scene{Config: scene.Config{Sym: kit.Unicode()}}).TermSpan(e).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
