package query

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"
)

// comparison is an operator and a number.
type comparison struct {
	operator string
	number   int64
}

// holds reports whether the comparison is true for v.
func (c comparison) holds(v int64) bool {
	return strings.Contains(cmp.Or(c.operator, "="), string("<=>"[1+cmp.Compare(v, c.number)]))
}

func splitOperator(text string) (operator, rest string) {
	for _, operator := range []string{"<=", ">=", "<", ">", "="} {
		if rest, found := strings.CutPrefix(text, operator); found {
			return operator, rest
		}
	}
	return "", text
}

func parseCount(text string) (comparison, error) {
	operator, rest := splitOperator(text)
	n, err := strconv.ParseUint(rest, 10, 31)
	if err != nil {
		return comparison{}, errors.New("needs a number")
	}
	return comparison{operator, int64(n)}, nil
}

func parseAge(text string) (comparison, error) {
	operator, rest := splitOperator(text)
	if operator == "" || operator == "=" {
		return comparison{}, errors.New("needs < or >")
	}
	d, err := parseDuration(rest)
	if err != nil {
		return comparison{}, err
	}
	return comparison{operator, int64(d)}, nil
}

// parseDuration accepts durations in Go's format and days, as in 2d04h.
func parseDuration(text string) (time.Duration, error) {
	wrong := errors.New("needs a duration")
	var total time.Duration
	if days, rest, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, wrong
		}
		total, text = time.Duration(n)*24*time.Hour, rest
		if rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, wrong
	}
	return total + d, nil
}
