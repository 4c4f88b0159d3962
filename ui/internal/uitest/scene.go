package uitest

import (
	"time"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// Scene returns the scene of a snapshot at now, without read-only mode.
func Scene(snap *election.Snapshot, now time.Time) *scene.Scene {
	return &scene.Scene{
		Shown: snap, Live: snap, AsOf: now, Now: now, Stale: snap.Connection.State == election.Lost,
		Sym: term.Unicode(), CanAct: true, Studies: true, Lists: true,
		Missing:  func(election.ActionKind, election.Target) string { return "" },
		Followed: func(*election.Election) string { return "" },
		Earlier:  func([]string) *scene.Search { return nil },
	}
}

// Painter returns a painter without colours.
func Painter() *term.Painter {
	return &term.Painter{Styles: &term.Styles{}, Sym: term.Unicode()}
}
