package term

// columnGap is the number of cells between two columns, leadIn those before the
// first one (the cursor's bar), leadOut those after the last.
const (
	ColumnGap = 2
	LeadIn    = 1
	LeadOut   = 1
)
