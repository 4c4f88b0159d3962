package query

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"electop/election"
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
	d, err := election.ParseDays(rest)
	if err != nil {
		return comparison{}, errors.New("needs a duration")
	}
	return comparison{operator, int64(d)}, nil
}
