package sessions

import (
	"strings"
	"time"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// news returns the lines above the list: the reason why it is empty, incomplete or stale, and the state of the scan.
func (v *Model) news(s *scene.Scene, width int) [][]kit.Span {
	var lines [][]kit.Span
	add := func(r kit.Role, text string) {
		for _, part := range kit.Wrap(text, width-2) {
			lines = append(lines, []kit.Span{{r, part}})
		}
	}
	if v.list == nil {
		r, text := v.unread(s)
		add(r, text)
	}
	for _, text := range v.problems(s) {
		add(kit.Delay, text)
	}
	if len(v.rows) > 0 && len(v.order) == 0 {
		add(kit.Quiet, "No session matches the filter. Esc clears it.")
	}
	for _, spans := range v.scan.spans(s.Now) {
		lines = append(lines, kit.Flow(spans, width-2)...)
	}
	return lines
}

// unread explains why there is no list.
func (v *Model) unread(s *scene.Scene) (kit.Role, string) {
	switch {
	case !s.Lists:
		return kit.Quiet, "This dashboard cannot list sessions."
	case s.Paused:
		return kit.Delay, "The board is paused: press " + v.keys.Pause.Help().Key + " to continue and read the sessions."
	case s.Stale && s.Live.Connection.Refused:
		return kit.Delay, "Consul rejects this token: the sessions were not read."
	case s.Stale:
		return kit.Delay, "Consul is unreachable: the sessions were not read."
	}
	return kit.Quiet, "Reading the sessions."
}

// problems describes why the list is incomplete or stale. If there are several datacenters, each text names the
// affected datacenters.
func (v *Model) problems(s *scene.Scene) []string {
	if v.list == nil {
		return nil
	}
	parts, subject := s.Shown.Datacenters(), wholeList
	if len(parts) > 1 {
		subject = "this part of the list"
	}
	var texts []string
	names := map[string][]string{}
	for _, part := range parts {
		for _, text := range v.lacks(part, subject, s.Now) {
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], scene.Clean(part.Datacenter))
		}
	}
	for i, text := range texts {
		switch of := names[text]; {
		case len(parts) == 1:
			texts[i] = kit.Capital(text)
		case len(of) == 1:
			texts[i] = "Datacenter " + of[0] + ": " + text
		default:
			texts[i] = "Datacenters " + strings.Join(of, ", ") + ": " + text
		}
	}
	return texts
}

// wholeList is the subject of [Model.lacks] if there is one datacenter.
const wholeList = "this list"

// lacks describes what is missing or stale in the list of one datacenter. subject is the name of this list in the
// texts.
func (v *Model) lacks(part *election.Snapshot, subject string, now time.Time) []string {
	list := part.SessionList
	if list == nil {
		return []string{"the sessions have not been read yet."}
	}
	var texts []string
	old := subject + " is " + kit.Duration(now.Sub(list.Until)) + " old."
	switch c := part.Connection; {
	case c.State == election.Lost && !c.Refused && subject != wholeList: // a banner shows the error
		text := "unreachable; the sessions were not read."
		if len(list.Sessions) > 0 {
			text = "unreachable. " + kit.Capital(old)
		}
		texts = append(texts, text)
	case list.Err != "" && len(list.Sessions) == 0:
		texts = append(texts, unreadable(part))
	case list.Err != "":
		texts = append(texts, scene.Clean(list.Err)+". "+kit.Capital(old))
	case !list.Until.IsZero():
		texts = append(texts, old)
	case len(v.list.Sessions) == 0:
		texts = append(texts, "no sessions are visible. Consul omits sessions that the token cannot read, so hidden sessions may exist.")
	}
	if list.Partial {
		texts = append(texts, "this token cannot read all sessions: some are not listed.")
	}
	return texts
}

// unreadable explains why the list of a datacenter has no sessions.
func unreadable(part *election.Snapshot) string {
	switch c := part.Connection; {
	case c.Refused:
		return "Consul rejects this token: the sessions cannot be read."
	case c.State == election.Lost, !part.SessionList.Denied:
		return scene.Clean(part.SessionList.Err) + "."
	}
	return scene.Clean(part.SessionList.Err) + ". Listing sessions requires session_prefix \"\" { policy = \"read\" }, or a session rule for one node to list only the sessions of that node."
}
