package kit

// ColumnGap is the number of cells between columns. LeadIn is the number of cells before the first column. These
// cells show the cursor. LeadOut is the number of cells after the last column.
const (
	ColumnGap = 2
	LeadIn    = 1
	LeadOut   = 1
)
