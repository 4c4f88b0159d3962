package metrics_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exposed returns the names of all metrics. It creates every state, so that no metric is absent.
func exposed(t *testing.T) (names []string) {
	t.Helper()
	s := newStage(t)
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

func TestAlertRules(t *testing.T) {
	promtool(t, "", "check", "rules", "../../docs/alerts.yml")
	promtool(t, "", "test", "rules", "testdata/alerts_test.yml")
}
