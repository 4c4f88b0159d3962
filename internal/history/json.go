package history

import (
	"encoding/json"
	"math"
	"time"
)

// Seconds is a duration whose JSON form is a number of seconds.
type Seconds time.Duration

// MarshalJSON encodes the duration as a number of seconds with nanoseconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Seconds())
}

// UnmarshalJSON decodes a number of seconds.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var f float64
	err := json.Unmarshal(text, &f)
	*s = Seconds(math.Round(f * float64(time.Second)))
	return err
}
