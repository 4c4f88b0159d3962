package election

import "testing"

func BenchmarkPatternMatch(b *testing.B) {
	ps, err := ParsePatterns(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := ps.Match("service/svc-000000/leader"); !ok {
			b.Fatal("no match")
		}
	}
}
