package scene

import (
	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/term"
)

// TallySign returns the symbol of the worst check.
func TallySign(t insight.Tally, sym *term.Symbols) string {
	switch {
	case t.Critical > 0:
		return sym.Critical
	case t.Warning > 0:
		return sym.Warning
	case t.Unknown > 0:
		return sym.Unknown
	}
	return sym.Passing
}

// checkSign returns the symbol, role and word of a check's status.
func checkSign(sym *term.Symbols, c *election.Check) (string, term.Role, string) {
	if c == nil {
		return sym.Unknown, term.Quiet, "unknown"
	}
	switch c.Status {
	case election.StatusPassing:
		return sym.Passing, term.Led, "passing"
	case election.StatusWarning:
		return sym.Warning, term.Delay, "warning"
	case election.StatusCritical:
		return sym.Critical, term.Bad, "critical"
	}
	return sym.Unknown, term.Quiet, Clean(c.Status)
}
