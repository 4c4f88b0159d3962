package uitest

import (
	"time"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Scene returns the scene of a snapshot at now, without read-only mode.
func Scene(snap *election.Snapshot, now time.Time) *scene.Scene {
	return &scene.Scene{
		Shown: snap, Live: snap, AsOf: now, Now: now, Stale: snap.Connection.State == election.Lost,
		Config: scene.Config{
			Sym:     kit.Unicode(),
			Missing: func(election.ActionKind, election.Target) string { return "" },
		},
	}
}

// Painter returns a painter without colours.
func Painter() *kit.Painter {
	return &kit.Painter{Styles: &kit.Styles{}, Sym: kit.Unicode()}
}
