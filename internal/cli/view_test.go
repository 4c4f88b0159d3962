package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"electop/election/query"
)

func TestListFiltersAndSorts(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	for _, name := range []string{"auth", "mail", "web"} {
		w.acquire(p+"/"+name+"/leader", w.session(nil), name+"-1")
	}
	released := w.session(nil)
	w.acquire(p+"/old/leader", released, "old-1")
	w.unlock(p+"/old/leader", released)
	for _, c := range []struct{ args, want string }{
		{"", "auth mail old web"},
		{"--filter state:led", "auth mail web"},
		{"--filter !state:led", "old"},
		{"--filter /^(auth|web)$/", "auth web"},
		{"--filter leader:web", "web"},
		{"--filter advice:no_checks_x", "usage"},
		{"--filter nothing", ""},
		{"--filter state:foo", "usage"},
		{"--filter /[/", "usage"},
		{"--sort state", "auth mail web old"}, // old is idle: no candidate is known
		{"--sort problems", "auth mail old web"},
		{"--sort leader", "old auth mail web"},
		{"--sort checks", "usage"},
		{"--sort bogus", "usage"},
		{"--filter state:led mail web", "mail web"},
	} {
		args := append([]string{"list", "-o", "json", "-k", p + "/*/leader"}, strings.Fields(c.args)...)
		if c.want == "usage" {
			w.run(args...).must(t, exitUsage)
			continue
		}
		var names []string
		for _, e := range list(t, w, args[3:]...) {
			names = append(names, e.Election)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

// The settings apply to the dashboard only: list prints all elections. An invalid setting is a usage error.
func TestSettingsOfTheView(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	w.acquire(p+"/web/leader", w.session(nil), "web-1")
	path := filepath.Join(t.TempDir(), "config.yaml")
	for text, want := range map[string]string{
		"filter: state:vacant\nsort: problems\n": "", "filter: state:foo\n": `unknown state "foo"`, "sort: bogus\n": `unknown order "bogus"`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := w.run("list", "-k", p+"/*/leader", "--config", path)
		if want == "" {
			r.must(t, exitOK)
			if !strings.Contains(r.out, "web-1") {
				t.Errorf("%s hides the election from list: %s", text, r.out)
			}
		} else if r.must(t, exitUsage); !strings.Contains(r.errOut, want) {
			t.Errorf("%s: %s", text, r.errOut)
		}
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

func TestHelpOfListNamesEveryField(t *testing.T) {
	out := onMemory(t).run("list", "--help").out
	for _, f := range query.FieldsOf(query.Elections) {
		if !strings.Contains(out, f.Example) {
			t.Errorf("the help lacks %s", f.Example)
		}
	}
	r := onMemory(t).run("__complete", "list", "--filter", "web st")
	if !strings.Contains(r.out, "web state:") {
		t.Errorf("the shell does not offer the field state: %s", r.out)
	}
}
