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
)

func (c *historyCommand) writeStats(ctx context.Context, f history.Source, filter history.Filter) error {
	st, err := f.Stats(ctx, filter)
	if err != nil {
		return err
	}
	// Omit elections that have no terms in this range and were not observed in it.
	st.Elections = slices.DeleteFunc(st.Elections, func(s history.Summary) bool { return s.Terms == 0 && s.Observed == 0 })
	if c.output == "json" {
		text, err := json.Marshal(st)
		if err == nil {
			_, err = c.d.stdout.Write(append(sanitize.JSON(text), '\n'))
		}
		return err
	}
	return c.writeStatsTable(&st)
}

func (c *historyCommand) writeStatsTable(st *history.Stats) error {
	tw := newTable(c.d.stdout)
	several := slices.ContainsFunc(st.Elections, func(s history.Summary) bool { return s.Datacenter != st.Elections[0].Datacenter })
	fmt.Fprintln(tw, inDatacenter("DC", several)+"ELECTION\tTERMS\tMISSED\tMEAN\tLONGEST\tAVAILABILITY\tVACANCIES\tP50\tP95\tMAX\tCAUSES")
	row := func(name string, s *history.Summary) {
		p50, p95, most := "-", "-", "-"
		if s.Vacancies > 0 {
			p50, p95, most = rounded(s.VacancyP50), rounded(s.VacancyP95), rounded(s.VacancyMax)
		}
		fmt.Fprintf(tw, "%s%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", inDatacenter(cmp.Or(s.Datacenter, "-"), several), name, s.Terms, s.Missed, rounded(s.Mean),
			rounded(s.Longest), availability(s), vacancies(s), p50, p95, most, causeCounts(s.Causes))
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
	_, err := fmt.Fprintf(c.d.stdout, "Observed for %s of %s; longest gap between two observations %s.\n", time.Duration(st.Observed).Round(time.Second),
		st.Until.Sub(st.Since).Round(time.Second), time.Duration(st.LongestGap).Round(time.Second))
	return err
}

// vacancies counts the vacancies, and names those whose duration is unknown.
func vacancies(s *history.Summary) string {
	if s.Unmeasured == 0 {
		return strconv.Itoa(s.Vacancies)
	}
	return fmt.Sprintf("%d+%d", s.Vacancies, s.Unmeasured)
}

// rounded formats a duration in whole seconds, or in whole milliseconds if it is shorter than a minute.
func rounded(s history.Seconds) string {
	d := time.Duration(s)
	if d < time.Minute {
		return election.FormatDuration(d)
	}
	return d.Round(time.Second).String()
}

// availability formats the share of the time with a leader: one number, or the range of the possible ones.
func availability(s *history.Summary) string {
	if s.AvailabilityMin == nil || s.AvailabilityMax == nil {
		return "-"
	}
	least, most := fmt.Sprintf("%.3f%%", 100**s.AvailabilityMin), fmt.Sprintf("%.3f%%", 100**s.AvailabilityMax)
	if least == most {
		return least
	}
	return least + " to " + most
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
