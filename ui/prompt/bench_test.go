package prompt_test

import (
	"testing"

	"electop/election/query"
	"electop/ui/internal/uitest"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// An open prompt computes its completions for each frame.
func BenchmarkComplete(b *testing.B) {
	s := &scene.Scene{Shown: uitest.Crowd(10_000)}
	for _, text := range []string{"s", "go svc-09", "filter node:", "filter leader:1"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				prompt.CompleteCommand(prompt.NamesOn(s, query.Elections, nil))(text)
			}
		})
	}
}
