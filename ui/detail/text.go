package detail

import (
	"electop/ui/kit"
	"electop/ui/scene"
)

// Write writes the pages Detail, Candidates and Raw of the selected election.
func Write(d *kit.Page, s *scene.Scene) {
	e := s.Selected
	detailDoc(d, s, e)
	if !e.IsSemaphore() {
		d.Head("Candidates")
		candidatesDoc(d, s, e)
	}
	d.Head("Raw")
	d.Lines = append(d.Lines, rawLines(s, e, d.Width)...)
}
