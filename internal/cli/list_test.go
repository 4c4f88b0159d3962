package cli

import (
	"testing"

	"electop/election/query"
)

func TestDemoChecksItsFlags(t *testing.T) {
	withoutConfig(t)
	for want, flag := range map[string]string{"--services and --candidates must be at least 1": "--services=0", "remove --key": "--key=x"} {
		runPlain(t, "demo", "--headless", flag).must(exitUsage).hasErr(want)
	}
}

// The dashboard begins with the settings unless the command line sets other values. These remain when the context
// changes.
func TestDashboardBeginsWithTheSettings(t *testing.T) {
	twoContexts(t, "a:1", "b:2", "filter: state:vacant\nsort: problems")
	if o := resolved(t); o.view.filter.Text != "state:vacant" || o.view.order.Key != query.ByProblems {
		t.Errorf("%q, %s", o.view.filter.Text, o.view.order)
	}
	o := resolved(t, "--filter", "web", "--sort", "for reverse", "--context", "production").inContext("test")
	if o.view.filter.Text != "web" || o.view.order.String() != "for reverse" {
		t.Errorf("after a switch of the context: filter %q, order %s", o.view.filter.Text, o.view.order)
	}
}
