package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/internal/output"
)

func (c *historyCommand) writeStats(ctx context.Context, f history.Source, filter history.Filter) error {
	st, err := f.Stats(ctx, filter)
	if err != nil {
		return err
	}
	// Omit elections that have no terms in this range and were not observed in it.
	st.Elections = slices.DeleteFunc(st.Elections, func(s history.Summary) bool { return s.Terms == 0 && s.Observed == 0 })
	if c.output == "json" {
		return c.writeStatsJSON(&st)
	}
	return c.writeStatsTable(&st)
}

func (c *historyCommand) writeStatsTable(st *history.Stats) error {
	tw := output.NewTable(c.d.stdout)
	several := slices.ContainsFunc(st.Elections, func(s history.Summary) bool { return s.Datacenter != st.Elections[0].Datacenter })
	fmt.Fprintln(tw, inDatacenter("DC", several)+"ELECTION\tTERMS\tMISSED\tMEAN\tLONGEST\tAVAILABILITY\tVACANCIES\tP50\tP95\tMAX\tCAUSES")
	row := func(name string, s *history.Summary) {
		p50, p95, most := "-", "-", "-"
		if s.Vacancies > 0 {
			p50, p95, most = election.FormatDuration(s.VacancyP50), election.FormatDuration(s.VacancyP95), election.FormatDuration(s.VacancyMax)
		}
		fmt.Fprintf(tw, "%s%s\t%d\t%d\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", inDatacenter(cmp.Or(s.Datacenter, "-"), several), name, s.Terms, s.Missed, rounded(s.Mean),
			rounded(s.Longest), availability(s), s.Vacancies, p50, p95, most, causeCounts(s.Causes))
	}
	for i := range st.Elections {
		row(sanitize.Line(st.Elections[i].Election, 80), &st.Elections[i])
	}
	if len(st.Elections) > 1 {
		row("(all)", &st.Total)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.d.stdout, "Observed for %s of %s; longest gap between two observations %s.\n", st.Observed.Round(time.Second),
		st.Until.Sub(st.Since).Round(time.Second), st.LongestGap.Round(time.Second))
	return err
}

// rounded formats a duration in whole seconds, or in whole milliseconds if it is shorter than a minute.
func rounded(d time.Duration) string {
	if d < time.Minute {
		return election.FormatDuration(d)
	}
	return d.Round(time.Second).String()
}

func availability(s *history.Summary) string {
	share, ok := s.Availability()
	if !ok {
		return "-"
	}
	return strconv.FormatFloat(100*share, 'f', 3, 64) + "%"
}

// causeCounts lists the causes, the most frequent first.
func causeCounts(counts map[election.Cause]int) string {
	causes := slices.SortedFunc(maps.Keys(counts), func(a, b election.Cause) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	texts := make([]string, len(causes))
	for i, cause := range causes {
		texts[i] = fmt.Sprintf("%s %d", cause, counts[cause])
	}
	return cmp.Or(strings.Join(texts, ", "), "-")
}

type summaryJSON struct {
	Election     string                 `json:"election,omitempty"`
	Key          string                 `json:"key,omitempty"`
	Datacenter   string                 `json:"datacenter,omitempty"`
	Terms        int                    `json:"terms"`
	Missed       uint64                 `json:"missed"`
	MeanMS       int64                  `json:"mean_ms"`
	LongestMS    int64                  `json:"longest_ms"`
	ObservedMS   int64                  `json:"observed_ms"`
	LedMS        int64                  `json:"led_ms"`
	Availability *float64               `json:"availability,omitempty"`
	Vacancies    int                    `json:"vacancies"`
	P50MS        int64                  `json:"vacancy_p50_ms"`
	P95MS        int64                  `json:"vacancy_p95_ms"`
	MaxMS        int64                  `json:"vacancy_max_ms"`
	Causes       map[election.Cause]int `json:"causes"`
}

func newSummaryJSON(s *history.Summary) summaryJSON {
	j := summaryJSON{
		Election: s.Election, Key: s.Key, Datacenter: s.Datacenter, Terms: s.Terms, Missed: s.Missed,
		MeanMS: s.Mean.Milliseconds(), LongestMS: s.Longest.Milliseconds(), ObservedMS: s.Observed.Milliseconds(),
		LedMS: s.Led.Milliseconds(), Vacancies: s.Vacancies, P50MS: s.VacancyP50.Milliseconds(),
		P95MS: s.VacancyP95.Milliseconds(), MaxMS: s.VacancyMax.Milliseconds(), Causes: s.Causes,
	}
	if share, ok := s.Availability(); ok {
		j.Availability = &share
	}
	return j
}

func (c *historyCommand) writeStatsJSON(st *history.Stats) error {
	elections := make([]summaryJSON, len(st.Elections))
	for i := range st.Elections {
		elections[i] = newSummaryJSON(&st.Elections[i])
	}
	text, err := json.Marshal(struct {
		Since        string        `json:"since"`
		Until        string        `json:"until"`
		ObservedMS   int64         `json:"observed_ms"`
		LongestGapMS int64         `json:"longest_gap_ms"`
		Elections    []summaryJSON `json:"elections"`
		Total        summaryJSON   `json:"total"`
	}{
		election.FormatTime(st.Since), election.FormatTime(st.Until), st.Observed.Milliseconds(), st.LongestGap.Milliseconds(),
		elections, newSummaryJSON(&st.Total),
	})
	if err != nil {
		return err
	}
	_, err = c.d.stdout.Write(append(sanitize.JSON(text), '\n'))
	return err
}
