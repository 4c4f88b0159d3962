package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"electop/election"
)

// eventFilter selects the events that watch writes and passes to --exec. The zero value selects all events.
type eventFilter struct {
	types     []string
	noInitial bool
	// keys contains the selected elections of each datacenter; nil selects all. Connection events have no key and are
	// always written.
	keys map[watchedKey]bool
	// names selects elections in the datacenters that did not respond at the start. read contains the other
	// datacenters.
	names, read []string
	// several is set if there are several datacenters. With only one datacenter, its name is ignored, because electop
	// may learn the name late.
	several bool
}

// watchedKey identifies a key. datacenter is empty if there is only one datacenter.
type watchedKey struct{ datacenter, key string }

func (f *eventFilter) keyIn(datacenter, key string) watchedKey {
	if !f.several {
		datacenter = ""
	}
	return watchedKey{datacenter, key}
}

func (f *eventFilter) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.types, "type", nil, "only events of these types, separated by commas: "+strings.Join(words(election.EventTypes()), ", "))
	cmd.Flags().BoolVar(&f.noInitial, "no-initial", false, "omit the events that describe the state at the start")
}

// validate rejects unknown types and an empty list, which an unset shell variable causes.
func (f *eventFilter) validate(cmd *cobra.Command) error {
	if cmd.Flags().Changed("type") && len(f.types) == 0 {
		return usagef("--type is empty")
	}
	return wantWords("--type", f.types, words(election.EventTypes()))
}

// selected returns the events that pass the filter, in order.
func (f *eventFilter) selected(events []election.Event) []election.Event {
	return slices.DeleteFunc(events, func(e election.Event) bool {
		return f.noInitial && e.Initial || f.keys != nil && e.Key != "" && !f.keys[f.keyIn(e.Datacenter, e.Key)] && !f.named(e) ||
			len(f.types) > 0 && !slices.Contains(f.types, string(e.Type))
	})
}

// named reports whether one of the names selects the event. It returns false for datacenters that were read at the
// start.
func (f *eventFilter) named(e election.Event) bool {
	return !slices.Contains(f.read, e.Datacenter) && slices.ContainsFunc(f.names, func(name string) bool {
		short := strings.TrimPrefix(name, "/")
		return e.Election == name || e.Election == short || e.Key == name || e.Key == short
	})
}
