package pages

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Found is the result of a search for locks.
type Found struct {
	// Datacenter is set if there are several. Error is the reason why the search failed. The dashboard uses neither.
	Datacenter string `json:"datacenter,omitempty"`
	Error      string `json:"error,omitempty"`
	// Scanned is the number of keys that were read. Incomplete is set if the token cannot read all keys.
	Scanned    int  `json:"scanned"`
	Incomplete bool `json:"incomplete"`
	// Problem is the reason why locks may be missing, in one line. It is empty if the result is complete.
	Problem string   `json:"-"`
	Flags   []string `json:"flags"` // with which electop watches all groups
	insight.FoundLocks
}

// Locks returns the box of :discover about a datacenter. where is the end of
// its title. search runs off the event loop, and any goroutine may call progress until it returns.
func Locks(ctx context.Context, search func(ctx context.Context, datacenter string, progress kit.Progress) (Found, error), datacenter, where string) *scene.Overlay {
	var found Found
	var failure error
	var task *kit.Task
	task = kit.Read(ctx, 0, func(ctx context.Context) kit.Apply {
		f, err := search(ctx, datacenter, task.Progress)
		return func() tea.Cmd {
			found, failure = f, err
			return nil
		}
	})
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Locks in the store" + where, Width: 112, Task: task}}
	o.Write = func(page *kit.Page) {
		o.Buttons = nil
		switch {
		case task.Running():
			page.Add(kit.Accent.Span("Scanning: "), kit.Text.Span(task.Far()))
			return
		case failure != nil:
			page.Para(kit.Bad, "The search failed: "+scene.Clean(failure.Error()))
			return
		case found.Unwatched > 0:
			o.Buttons = append(o.Buttons, kit.Button{Key: "w", Hint: "watch all", Do: func() any { return watchAll(&found) }})
		}
		if found.Problem != "" {
			page.Para(kit.Delay, scene.Clean(found.Problem))
			page.Blank()
		}
		if len(found.Groups) == 0 {
			page.Para(kit.Text, "No locks were found among "+kit.Plural(found.Scanned, "key")+".")
		}
		for _, g := range found.Groups {
			WriteGroup(page, &g)
		}
	}
	return o
}

// watchAll adds the patterns of all groups with unwatched elections. If there are no patterns to add, the box stays
// open.
func watchAll(found *Found) any {
	var texts []string
	for _, g := range found.Groups {
		if g.Pattern != "" && g.Watched < len(g.Keys) {
			texts = append(append(texts, g.Pattern), g.Excluded...)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return scene.All{scene.Close{}, scene.Watch{Patterns: texts}}
}

// WriteGroup writes the pattern, the key counts, the software and the state of a group.
func WriteGroup(page *kit.Page, g *insight.LockGroup) {
	name := sanitize.Line(strings.Join(append([]string{cmp.Or(g.Pattern, g.Keys[0])}, g.Excluded...), " "), 100)
	state := kit.Accent.Span("not watched")
	sign := kit.Vacant.Span(page.Sym.Vacant + " ")
	switch {
	case g.Watched == len(g.Keys):
		state, sign = kit.Quiet.Span("watched"), kit.Led.Span(page.Sym.Led+" ")
	case g.Pattern == "":
		state.Text = "no pattern selects only this key"
	case g.Watched > 0:
		state.Text = fmt.Sprintf("%d of %d watched", g.Watched, len(g.Keys))
	}
	var counts []string
	count := func(n int, text string) {
		if n > 0 {
			counts = append(counts, text)
		}
	}
	count(g.Locked, fmt.Sprint(g.Locked, " locked"))
	count(g.Unlocked, fmt.Sprint(g.Unlocked, " unlocked"))
	count(g.Semaphores, kit.Plural(g.Semaphores, "semaphore"))
	page.Add(sign, kit.Strong.Span(name))
	page.Beside(nil, 2, kit.Text.Span(strings.Join(counts, ", ")+"   "),
		kit.Quiet.Span(strings.Join(g.SoftwareNames(), ", ")+"   "), state)
}
