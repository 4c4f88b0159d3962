// Package clip copies the parts of an election or a session that the user selects in the copy menus.
package clip

import (
	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// Election copies the part of the selected election that a key of the copy menu selects. It returns nil for other
// keys.
func Election(name string, s *scene.Scene, c shell.Cluster) scene.Action {
	e := s.Selected
	if e == nil {
		return nil
	}
	switch name {
	case "k":
		return scene.Copy{What: "key", Text: e.Key()}
	case "n":
		return scene.Copy{What: "name", Text: e.Name}
	case "l":
		return scene.Copy{What: "leader", Text: e.Leader}
	case "s":
		return scene.Copy{What: "session", Text: e.Pair.Session}
	case "o":
		return scene.Copy{What: "node", Text: e.Node()}
	case "v":
		if s.Past != nil {
			return scene.Say{Role: kit.Delay, Text: "The history does not store values."}
		}
		return scene.Copy{What: "value", Text: string(e.Pair.Value)}
	case "c":
		return command("consul command")(c.KVGet(e.Key(), e.Datacenter))
	case "u":
		return command("curl command")(c.CurlKV(e.Key(), e.Datacenter))
	}
	return nil
}

// Session copies the part of a session that a key of the copy menu selects. It returns nil for other keys.
func Session(name string, ses *election.Session, datacenter string, c shell.Cluster) scene.Action {
	if ses == nil {
		return nil
	}
	switch name {
	case "s":
		return scene.Copy{What: "session", Text: ses.ID}
	case "n":
		return scene.Copy{What: "name", Text: ses.Name}
	case "o":
		return scene.Copy{What: "node", Text: ses.Node}
	case "u":
		return scene.Copy{What: "curl command", Text: c.CurlSession(ses.ID, datacenter)}
	}
	return nil
}

// command returns a function that copies a command or, after an error, shows why there is none.
func command(what string) func(text string, err error) scene.Action {
	return func(text string, err error) scene.Action {
		if err != nil {
			return scene.Say{Role: kit.Delay, Text: kit.Capital(err.Error()) + "."}
		}
		return scene.Copy{What: what, Text: text}
	}
}
