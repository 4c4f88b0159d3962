package kit

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Item is the kind of an item that a click selects.
type Item uint8

// Area is the effect of a click on some cells: the click presses a key or selects an item. The zero Area has no
// effect.
type Area struct {
	Key   string // key name as in keys.Press
	Item  Item
	Index int // position among the items of this kind, from 0
}

// The kinds of items.
const (
	NoItem Item = iota
	Row
	Heading
	Tab
)

// The marker of an area is an application program command, an escape sequence that terminals ignore. Text from Consul
// is sanitized, so it cannot contain a marker.
const (
	markerOpens  = "\x1b_"
	markerCloses = "\x1b\\"
)

// Area begins an area. The zero Area ends the current area. Area does nothing unless the painter marks areas.
func (l *Line) Area(a Area) {
	if l.areas && a != l.area {
		l.buf = fmt.Appendf(l.buf, "%s%d %d %s%s", markerOpens, a.Item, a.Index, a.Key, markerCloses)
		l.area = a
	}
}

// AreaAt returns the area at a column of a line whose painter marked areas.
func AreaAt(line string, x int) Area {
	var area Area
	for at, state := 0, byte(0); line != ""; {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		if text, found := strings.CutPrefix(seq, markerOpens); found {
			area = Area{}
			_, _ = fmt.Sscanf(strings.TrimSuffix(text, markerCloses), "%d %d %s", &area.Item, &area.Index, &area.Key) // the marker of an item contains no key
		}
		if at += width; at > x {
			return area
		}
		line, state = line[n:], next
	}
	return Area{}
}
