package main

import (
	"testing"
	"time"
)

func report() sizeReport {
	const msec = time.Millisecond
	return sizeReport{
		n:        1_234_567,
		baseline: result{perCPU: cpu{server: 200 * time.Microsecond}},
		results: []result{
			{
				watcher: "electop", ready: 1234 * msec, rss: 40 << 20, peak: 50 << 20, conns: 41,
				idle: spread{made: 3, seen: 3, p50: msec, p99: 2 * msec, max: 12345 * time.Microsecond},
				busy: spread{made: 10, seen: 9, p50: -msec / 20, p99: 150 * msec, max: 200 * msec}, perCPU: cpu{client: msec, server: msec},
			},
			{watcher: "perkey", skipped: "not measured: too many"},
		},
	}
}

func TestTableText(t *testing.T) {
	want := `
1,234,567 elections

         one by one p50   p99   max  at 50/s p50  p99  max  seen  client CPU  server CPU  RSS (peak)  conns  ready
electop            1.00  2.00  12.3        -0.05  150  200  9/10        1.00        0.80     40 (50)     41   1234
perkey                –     –     –            –    –    –     –           –           –           –      –      –

perkey: not measured: too many.
Latency and ready in ms. CPU in ms per change; server CPU excludes the 0.20 ms that a write costs without a watcher. RSS in MB.
`
	if got := report().table(options{rate: 50}).text(); got != want[1:] {
		t.Errorf("got\n%s\nwant\n%s", got, want[1:])
	}
}
