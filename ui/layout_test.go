package ui

import (
	"testing"

	"electop/ui/kit"
)

func TestLayoutCoversTheWindow(t *testing.T) {
	for w := minWidth; w <= 240; w += 5 {
		for h := minHeight; h <= 80; h++ {
			for _, n := range []need{{}, {rows: 500}, {rows: 8, banners: 3}, {zoom: true}, {full: true}, {rows: 30}} {
				n.w, n.h = w, h
				s := arrange(n)
				parts := []kit.Rect{s.header, s.banners, s.footer}
				switch {
				case n.full:
					parts = append(parts, s.body)
				case s.side:
					parts = append(parts, s.table, s.events, s.pane, kit.Rect{s.pane.X - 1, s.pane.Y, 1, s.pane.H})
				default:
					parts = append(parts, s.table, s.events, s.pane)
				}
				area := 0
				for _, p := range parts {
					if p.W < 0 || p.H < 0 || p.X < 0 || p.Y < 0 || p.X+p.W > w || p.Y+p.H > h {
						t.Fatalf("%+v: part %+v is outside the window", n, p)
					}
					area += p.W * p.H
				}
				if area != w*h {
					t.Fatalf("%+v: the parts have %d cells, the window %d: %+v", n, area, w*h, s)
				}
			}
		}
	}
}
