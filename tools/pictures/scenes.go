package main

import "time"

// scene is a demonstration and the steps that show it.
type scene struct {
	name string
	// args are the flags of `electop demo`. The seed determines the first failure.
	args  []string
	steps []step
	// recorded scenes are drawn as an animation with the scene's name.
	recorded bool
}

// step presses keys and waits until the text of the screen matches all expressions.
type step struct {
	keys, await []string
	// picture is the name of the picture that is drawn of this screen.
	picture string
	// A recording shows this screen for the duration hold, with caption below it.
	caption string
	hold    time.Duration
}

func scenes() []scene {
	return []scene{recordingScene(), noLeader(), flapping(), drain(), history()}
}

const allLed = `8 led`

// recordingScene shows a failover and a release. With this seed, the second simulated failure is a critical check of
// invoices, whose lock-delay is 8s. The first step waits until the rows are no longer highlighted as new.
func recordingScene() scene {
	return scene{
		name: "recording", args: []string{"--seed", "156", "--every", "30s"}, recorded: true,
		steps: []step{
			{await: []string{allLed, `● billing +\S+ +\S+ +2[4-9]s`}, caption: "electop shows the leader of every election in Consul", hold: 2 * time.Second},
			{await: []string{`◐ invoices`}, caption: "The leader of invoices fails", hold: 2 * time.Second},
			{keys: []string{"n"}, await: []string{`─ ◐ invoices`, `503 Service`}, caption: "n   Next problem: why the leader was lost, and why no candidate leads yet", hold: 4 * time.Second},
			{await: []string{`─ ● invoices`, allLed}, caption: "The lock-delay ends, and the next leader is elected", hold: 3 * time.Second},
			{keys: []string{"Enter"}, await: []string{`─ ● invoices`, `esc back`}, caption: "enter   The election in detail", hold: 2 * time.Second},
			{keys: []string{"Tab", "Tab"}, await: []string{`term 1 `}, caption: "tab   Its history: terms, causes and events", hold: 4 * time.Second},
			{keys: []string{"r"}, await: []string{`─ Release invoices`, `y release`}, caption: "r   Release the lock: the dialog shows the effect before anything is written", hold: 4 * time.Second},
			{keys: []string{"y"}, await: []string{`term 3 `, `invoices-\d on node-\d → invoices-\d on node-\d`}, caption: "y   The lock is released, and the next leader is elected", hold: 4 * time.Second},
			{keys: []string{"u"}, await: []string{`─ Actions since`}, caption: "u   The actions and their results", hold: 4 * time.Second},
		},
	}
}

// noLeader shows why an election has no leader. With this seed, the first simulated failure is a critical check of
// cron, whose lock-delay is 15s.
func noLeader() scene {
	return scene{
		name: "no-leader", args: []string{"--seed", "34", "--every", "5m"},
		steps: []step{
			{await: []string{`◐ cron`}},
			{keys: []string{"n"}, await: []string{`─ ◐ cron`, `503 Service`, `lock-delay ~[1-9]s`}, picture: "no-leader"},
			{keys: []string{"f"}, await: []string{`─ Fix cron`, `lock-delay is active`}, picture: "fix"},
		},
	}
}

// flapping shows the terms of an election whose leader changes often: a leader's check fails, a leader releases the
// lock, and a leader's node is removed.
func flapping() scene {
	return scene{
		name: "flapping", args: []string{"--seed", "191", "--services", "1", "--every", "7s"},
		steps: []step{
			{await: []string{`1 led`}},
			{keys: []string{"Enter"}, await: []string{`esc back`}},
			{keys: []string{"Tab", "Tab"}, await: []string{`term 4 +●`, `term 1 `}, picture: "flapping"},
		},
	}
}

// drain moves all leaders off a node.
func drain() scene {
	return scene{
		name: "drain", args: []string{"--seed", "34", "--every", "5m"},
		steps: []step{
			{await: []string{`◐ cron`}},
			{await: []string{allLed}},
			{keys: []string{"D"}, await: []string{`─ Drain node-`, `y drain`}, picture: "drain-plan"},
			{keys: []string{"y"}, await: []string{`● moved`, `c copy the way back`}, picture: "drain"},
		},
	}
}

// history shows the stored events and the board at a time in the past. With this seed, the first six simulated
// failures are a critical check, an overwritten key, a release, a crash, a warning and a removed node.
func history() scene {
	return scene{
		name: "history", args: []string{"--seed", "34", "--every", "6s"},
		steps: []step{
			{await: []string{allLed}},
			{keys: []string{"2"}, await: []string{`─ Events`, `check_critical`, `released`, `node_gone`}, picture: "events"},
			{keys: []string{"1"}, await: []string{`ELECTION`}},
			{keys: []string{":at -25s", "Enter"}, await: []string{`PAST`, `◐ cron`}},
			{keys: []string{"n"}, await: []string{`─ ◐ cron`, `critical`}, picture: "past"},
		},
	}
}
