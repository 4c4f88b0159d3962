package history

import (
	"math"
	"strconv"
	"time"
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
