package election

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestEventJSON(t *testing.T) {
	at := time.Date(2026, 11, 20, 13, 1, 7, 120_000_000, time.FixedZone("", 3600))
	base := Event{Time: at, Election: "web", Key: "k", Datacenter: "dc1", Term: 118, CreateIndex: 40, Leader: "web-1", Session: "695b", Node: "node-1"}
	with := func(change func(*Event)) Event { e := base; change(&e); return e }
	const head = `{"time":"2026-11-20T12:01:07.120Z","type":"`
	const body = `","election":"web","key":"k","datacenter":"dc1","create_index":40,"leader":"web-1","session":"695b","node":"node-1"`
	const term = `,"term":118`
	tests := []struct {
		event Event
		want  string
	}{
		{with(func(e *Event) {
			e.Type, e.Vacancy, e.VacancyKnown, e.AliveUntil = Elected, 1204*time.Millisecond, true, at.Add(-22*time.Second)
		}), head + "elected" + body + term + `,"vacancy":"1.204s","vacancy_ms":1204,"alive_until":"2026-11-20T12:00:45.120Z","outage_min_ms":1204,"outage_max_ms":22000}`},
		{with(func(e *Event) { e.Type, e.VacancyKnown = Elected, true }), head + "elected" + body + term + `,"vacancy":"0s","vacancy_ms":0,"outage_min_ms":0}`},
		{with(func(e *Event) { e.Type = Elected }), head + "elected" + body + term + `}`},
		{with(func(e *Event) { e.Type, e.Held, e.HeldKnown = Vacated, 41*time.Minute+2*time.Second, true }), head + "vacated" + body + term + `,"held":"41m2s","held_ms":2462000,"held_known":true}`},
		{
			with(func(e *Event) {
				e.Type, e.Cause, e.Evidence, e.LockDelayUntil = Explained, CheckCritical, "x: 503", at.Add(14*time.Second)
			}),
			head + "explained" + body + `,"cause":"check_critical","evidence":"x: 503","term":118,"lock_delay_until":"2026-11-20T12:01:21.120Z"}`,
		},
		{Event{Time: at, Type: ConnectionLost, Error: "refused"}, head + `connection_lost","error":"refused"}`},
	}
	for _, tt := range tests {
		got, err := json.Marshal(tt.event)
		if err != nil || string(got) != tt.want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, tt.want)
		}
		var back Event
		err = json.Unmarshal(got, &back)
		if again, _ := json.Marshal(back); err != nil || string(again) != tt.want {
			t.Errorf("%v, decoded\n%s", err, again)
		}
	}
	for want, text := range map[string]string{
		", outage at least 2s": with(func(e *Event) { e.Type, e.Vacancy, e.VacancyKnown = Elected, 2*time.Second, true }).Summary(),
		" at the latest":       with(func(e *Event) { e.Type, e.SeenUntil, e.LockDelayUntil = Explained, at, at }).Summary(),
	} {
		if !strings.Contains(text, want) {
			t.Error(text)
		}
	}
}
