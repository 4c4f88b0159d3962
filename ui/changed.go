package ui

import "electop/election"

// change is one election that differs between two boards: before is nil for a
// new one, after for one that is gone.
type change struct{ before, after *election.Election }

// changesLimit is from how many changes on it is cheaper to look at the whole
// board again.
const changesLimit = 256

// changesOf lists what is different between two boards, which are sorted by key.
// An election that did not change is the same pointer in both, so nothing else is
// looked at. It reports false, and lists nothing, when there are too many
// changes to follow them one by one.
func changesOf(before, after []*election.Election) ([]change, bool) {
	if len(before) == 0 {
		return nil, len(after) == 0
	}
	if sameSlice(before, after) {
		return nil, true
	}
	var all []change
	for i, j := 0, 0; i < len(before) || j < len(after); {
		if i < len(before) && j < len(after) && before[i] == after[j] {
			i++
			j++
			continue
		}
		if len(all) == changesLimit {
			return nil, false
		}
		var c change
		switch {
		case j == len(after) || i < len(before) && election.Compare(before[i], after[j]) < 0:
			c.before = before[i]
			i++
		case i == len(before) || election.Compare(before[i], after[j]) > 0:
			c.after = after[j]
			j++
		default:
			c = change{before[i], after[j]}
			i++
			j++
		}
		all = append(all, c)
	}
	return all, true
}
