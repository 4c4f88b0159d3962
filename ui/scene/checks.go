package scene

import (
	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
)

// TallySign returns the symbol of the worst check.
func TallySign(t insight.Tally, sym *kit.Symbols) string {
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
func checkSign(sym *kit.Symbols, c *election.Check) (string, kit.Role, string) {
	if c == nil {
		return sym.Unknown, kit.Quiet, "unknown"
	}
	switch c.Status {
	case election.StatusPassing:
		return sym.Passing, kit.Led, "passing"
	case election.StatusWarning:
		return sym.Warning, kit.Delay, "warning"
	case election.StatusCritical:
		return sym.Critical, kit.Bad, "critical"
	}
	return sym.Unknown, kit.Quiet, Clean(c.Status)
}
