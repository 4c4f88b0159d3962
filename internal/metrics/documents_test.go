package metrics_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exposed returns the names of all metrics. It creates every state, so that no metric is absent.
func exposed(t *testing.T) (names []string) {
	t.Helper()
	s := newStage(t, 0)
	s.hold("web", "s1")
	s.hold("mail", "s1")
	s.hold("mail", "")
	for line := range strings.Lines(s.scrape()) {
		name := regexp.MustCompile(`^electop_\w+`).FindString(line)
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDocumentsNameMetricsThatExist(t *testing.T) {
	known := exposed(t)
	used := map[string]bool{}
	for _, name := range []string{"alerts.yml", "grafana.json", "recording.md"} {
		found := regexp.MustCompile(`\belectop_[a-z0-9_]+`).FindAllString(document(t, name), -1)
		if len(found) < 8 {
			t.Errorf("%s names %d metrics", name, len(found))
		}
		for _, metric := range found {
			used[metric] = true
			if !slices.Contains(known, metric) && !slices.Contains(known, metric+"_bucket") {
				t.Errorf("%s uses %s, which does not exist", name, metric)
			}
		}
	}
	for _, metric := range known {
		if base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(metric, ""); !used[base] && !used[metric] {
			t.Errorf("no document contains %s", metric)
		}
	}
}

func TestGrafanaDashboard(t *testing.T) {
	var d struct {
		Title, UID    string
		SchemaVersion int
		Panels        []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal([]byte(document(t, "grafana.json")), &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion == 0 || len(d.Panels) < 10 {
		t.Errorf("%+v", d)
	}
	cells := map[[2]int]string{}
	ids := map[int]bool{}
	var rules []any
	for _, p := range d.Panels {
		if p.Type == "" || p.Title == "" || ids[p.ID] || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if cells[at] != "" {
					t.Fatalf("%s covers %s", p.Title, cells[at])
				}
				cells[at] = p.Title
			}
		}
		for _, target := range p.Targets {
			rules = append(rules, map[string]string{
				"record": "x", "expr": strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*").Replace(target.Expr),
			})
		}
	}
	// promtool cannot check a single query, so each query becomes a rule.
	text, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", "--lint=none", file)
}

func TestAlertRules(t *testing.T) {
	promtool(t, "", "check", "rules", "../../docs/alerts.yml")
	promtool(t, "", "test", "rules", "testdata/alerts_test.yml")
}
