package term

// ColumnGap is the number of cells between columns, LeadIn those before the first one (the
// cursor's bar), LeadOut those after the last.
const (
	ColumnGap = 2
	LeadIn    = 1
	LeadOut   = 1
)
