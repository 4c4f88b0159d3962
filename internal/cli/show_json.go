package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/internal/output"
)

// writeElectionJSON writes the same object as `list -o json`, with the fields of the assessment added.
func writeElectionJSON(w io.Writer, e *election.Election, a assessment, now time.Time) error {
	text, err := e.JSON(now)
	if err != nil {
		return err
	}
	more, err := json.Marshal(a)
	if err != nil {
		return err
	}
	text = append(append(bytes.TrimSuffix(text, []byte("}")), ','), more[1:]...)
	return output.WriteIndented(w, text)
}

// assessmentJSON contains the fields of `show -o json` that `list -o json` does not have.
type assessmentJSON struct {
	WhyVacant  string              `json:"why_vacant,omitempty"`
	Candidates []insight.Candidate `json:"candidates"`
	Semaphore  *election.Semaphore `json:"semaphore,omitempty"`
	Software   *insight.Software   `json:"software,omitempty"`
	Advice     []insight.Advice    `json:"advice"`
	Unread     []string            `json:"unread,omitempty"`
	Probe      *probeJSON          `json:"probe,omitempty"`
}

type probeJSON struct {
	State   string `json:"state"`
	Exists  bool   `json:"exists"`
	Session string `json:"session,omitempty"`
}

// MarshalJSON writes an empty list as [] and not as null.
func (a assessment) MarshalJSON() ([]byte, error) {
	j := assessmentJSON{
		WhyVacant: a.why, Candidates: a.candidates, Semaphore: a.semaphore, Software: a.software,
		Advice: a.advice, Unread: a.around.Unread(),
	}
	if j.Candidates == nil {
		j.Candidates = []insight.Candidate{}
	}
	if j.Advice == nil {
		j.Advice = []insight.Advice{}
	}
	if a.probe != nil {
		j.Probe = &probeJSON{State: string(a.probe.State), Exists: a.probe.Exists, Session: a.probe.Session}
	}
	return json.Marshal(j)
}
