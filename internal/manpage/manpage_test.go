package manpage_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"electop/internal/manpage"
)

func TestFormat(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: `the "tool"`, Run: func(*cobra.Command, []string) {}}
	sub := &cobra.Command{
		Use: "act NAME", Short: "Act", Run: func(*cobra.Command, []string) {},
		Long:    "Text with a\n.dot and 'quotes' and C:\\x.\n\nTable:\n\n  a  1\n  b  2\nafter it.\n\n  " + strings.Repeat("x", 75),
		Example: "  tool act -n 3",
	}
	root.AddCommand(sub)
	sub.Flags().IntP("times", "n", 3, "repeat `N` times")
	sub.Flags().Bool("dry-run", false, "change nothing")
	hidden := sub.Flags()
	hidden.Bool("secret", false, "")
	if err := hidden.MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	const want = `.TH "TOOL\-ACT" 1 "2026\-11\-22" "tool v1" "electop manual"
.SH NAME
tool\-act \- Act
.SH SYNOPSIS
.B "tool act NAME [flags]"
.SH DESCRIPTION
Text with a
\&.dot and \(aqquotes\(aq and C:\ex.
.PP
Table:
.PP
.nf
  a  1
  b  2
.fi
after it.
.PP
.nf
.in 0
  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
.in
.fi
.SH OPTIONS
.TP
\fB\-\-dry\-run\fR
change nothing
.TP
\fB\-n\fR, \fB\-\-times\fR \fIN\fR
repeat N times (default 3)
.SH EXAMPLES
.nf
  tool act \-n 3
.fi
.SH SEE ALSO
\fBtool\fR(1)
`
	if got := manpage.Format(sub, manpage.Source{Version: "tool v1", Date: "2026-11-22"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := manpage.Format(root, manpage.Source{}); !strings.Contains(got, ".SH COMMANDS\n.TP\n\\fBtool\\-act\\fR(1)\nAct\n") {
		t.Errorf("no command in\n%s", got)
	}
}
