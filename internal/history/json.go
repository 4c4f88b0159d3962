package history

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"electop/election"
)

// Seconds is a duration whose JSON form is a number of seconds.
type Seconds time.Duration

// MarshalJSON encodes the duration as a number of seconds with nanoseconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON decodes a number of seconds.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(string(text), 64)
	*s = Seconds(math.Round(f * float64(time.Second)))
	return err
}

// pastElection has the field names of `electop list -o json` for the fields that this command also prints.
type pastElection struct {
	Election          string          `json:"election"`
	Key               string          `json:"key"`
	Datacenter        string          `json:"datacenter"`
	State             election.State  `json:"state"`
	Exists            bool            `json:"exists"`
	Unreadable        bool            `json:"unreadable,omitempty"`
	Unaddressable     bool            `json:"unaddressable,omitempty"`
	Leader            string          `json:"leader,omitempty"`
	Term              uint64          `json:"term"`
	CreateIndex       uint64          `json:"create_index"`
	ModifyIndex       uint64          `json:"modify_index"`
	LockIndex         uint64          `json:"lock_index"`
	SessionID         string          `json:"session_id,omitempty"`
	Value             []byte          `json:"value_base64,omitempty"`
	Flags             uint64          `json:"flags,string"`
	Since             time.Time       `json:"since,omitzero"`
	SinceKnown        bool            `json:"since_known"`
	VacantSince       time.Time       `json:"vacant_since,omitzero"`
	VacantSinceKnown  bool            `json:"vacant_since_known"`
	LockDelayUntil    time.Time       `json:"lock_delay_until,omitzero"`
	LockDelayDoubtful bool            `json:"lock_delay_doubtful,omitempty"`
	Terms             []election.Term `json:"terms"`
}

type stateJSON struct {
	At           time.Time      `json:"at"`
	Observed     bool           `json:"observed"`
	LastObserved time.Time      `json:"last_observed,omitzero"`
	Elections    []pastElection `json:"elections"`
}

// MarshalJSON encodes the state without sessions.
func (s State) MarshalJSON() ([]byte, error) {
	j := stateJSON{At: s.At, Observed: s.Observed, LastObserved: s.LastObserved, Elections: make([]pastElection, len(s.Elections))}
	for i, e := range s.Elections {
		j.Elections[i] = pastElection{
			Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, State: e.State(s.At), Exists: e.Exists, Unreadable: e.Unreadable,
			Unaddressable: e.Unaddressable, Leader: e.Leader, Term: e.Term, CreateIndex: e.Pair.CreateIndex, ModifyIndex: e.Pair.ModifyIndex,
			LockIndex: e.Pair.LockIndex, SessionID: e.Pair.Session, Value: e.Pair.Value, Flags: e.Pair.Flags,
			Since: e.Since, SinceKnown: e.SinceKnown, VacantSince: e.VacantSince, VacantSinceKnown: e.VacantSinceKnown,
			LockDelayUntil: e.LockDelayUntil, LockDelayDoubtful: e.LockDelayDoubtful, Terms: e.Terms,
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (s *State) UnmarshalJSON(text []byte) error {
	var decoded stateJSON
	if err := json.Unmarshal(text, &decoded); err != nil {
		return err
	}
	*s = State{At: decoded.At, Observed: decoded.Observed, LastObserved: decoded.LastObserved}
	for i := range decoded.Elections {
		j := &decoded.Elections[i]
		s.Elections = append(s.Elections, &election.Election{
			Name: j.Election, Datacenter: j.Datacenter, Leader: j.Leader, Term: j.Term,
			Pair: election.Pair{
				Key: j.Key, Value: j.Value, Flags: j.Flags, Session: j.SessionID,
				LockIndex: j.LockIndex, CreateIndex: j.CreateIndex, ModifyIndex: j.ModifyIndex,
			},
			Since: j.Since, SinceKnown: j.SinceKnown, VacantSince: j.VacantSince, VacantSinceKnown: j.VacantSinceKnown,
			LockDelayUntil: j.LockDelayUntil, LockDelayDoubtful: j.LockDelayDoubtful,
			Exists: j.Exists, Unreadable: j.Unreadable, Unaddressable: j.Unaddressable, Terms: j.Terms,
		})
	}
	return nil
}
