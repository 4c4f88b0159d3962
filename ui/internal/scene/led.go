package scene

import "electop/election"

// Led maps each session to the elections that it leads.
func Led(snap *election.Snapshot, sessions []string) map[string][]*election.Election {
	led := make(map[string][]*election.Election, len(sessions))
	for _, id := range sessions {
		led[id] = nil
	}
	for _, e := range snap.Elections {
		if all, asked := led[e.Pair.Session]; asked && e.Exists && e.Pair.Held() {
			led[e.Pair.Session] = append(all, e)
		}
	}
	return led
}
