// Package query implements the language in which users filter and sort elections, events and sessions. It is pure.
// The command line and the dashboard share it.
package query

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
)

// Scope is the kind of list to which a filter applies.
type Scope uint8

// The scopes.
const (
	Elections Scope = iota
	Events
	Sessions
)

func (s Scope) String() string { return [...]string{"elections", "events", "sessions"}[s] }

// Field is a word that precedes a value: state in state:vacant.
type Field struct {
	Name string
	// Example is the field with a value. Means describes what the field matches.
	Example, Means string
	// Scopes are the lists that have the field.
	Scopes []Scope
	// values returns the known values. It is nil if any text is valid. In a filter, the beginning of a value is
	// sufficient.
	values func(Scope) []string
	// parse parses a comparison such as <10m. It is nil if the field is not a comparison.
	parse func(string) (comparison, error)
}

// Fields lists all fields. Completion, errors, help and documentation use this list.
func Fields() []Field {
	elections, all := []Scope{Elections}, []Scope{Elections, Events, Sessions}
	return []Field{ // name, example, meaning, scopes, known values, comparison
		{"state", "state:vacant", "the state", []Scope{Elections, Sessions}, states, nil},
		{"election", "election:web", "the whole name or the whole key", all, nil, nil},
		{"leader", "leader:web", "a part of the leader's name", []Scope{Elections, Events}, nil, nil},
		{"node", "node:node-2", "a part of the node's name; without a leader, the last leader's node", all, nil, nil},
		{"session", "session:4f5a", "the beginning of the session's ID, or a part of its name", all, nil, nil},
		{"key", "key:service/web", "a part of the key", all, nil, nil},
		{"dc", "dc:dc1", "the whole name of the datacenter", all, nil, nil},
		{"cause", "cause:check_critical", "why the last term ended", []Scope{Elections, Events}, causes, nil},
		{"for", "for:<10m", "how long the election has been led or vacant; < needs a known beginning", elections, nil, parseAge},
		{"changes", "changes:>3", "new leaders in the last hour, except after an operator's action", elections, nil, parseCount},
		{"advice", "advice:any", "any or urgent advice, or advice with this code", elections, advice, nil},
		{"type", "type:elected", "the type of the event", []Scope{Events}, types, nil},
	}
}

// FieldsOf lists the fields of a scope.
func FieldsOf(s Scope) []Field {
	return slices.DeleteFunc(Fields(), func(f Field) bool { return !slices.Contains(f.Scopes, s) })
}

// Values lists the known values of a field, or nil if any text is valid.
func (f Field) Values(s Scope) []string {
	if f.values == nil {
		return nil
	}
	return f.values(s)
}

// ExampleIn returns an example that is valid in a scope.
func (f Field) ExampleIn(s Scope) string {
	if known := f.Values(s); known != nil && !slices.Contains(known, strings.TrimPrefix(f.Example, f.Name+":")) {
		return f.Name + ":" + known[0]
	}
	return f.Example
}

// OperatorAction is the type of the lines about an operator's actions.
const OperatorAction election.EventType = "operator"

const (
	anyAdvice    = "any"
	urgentAdvice = "urgent"
)

func states(s Scope) []string {
	if s == Sessions {
		return []string{"orphan", "idle", "holding"}
	}
	return []string{
		string(election.Vacant), dashed(string(election.InLockDelay)), string(election.Led), unreadable,
		string(election.Idle), string(election.OfSemaphore),
	}
}

// unreadable is the state of an election that the token cannot read.
const unreadable = "unreadable"

func causes(Scope) []string { return texts(election.Causes()) }

func types(Scope) []string { return append(texts(election.EventTypes()), string(OperatorAction)) }

func advice(Scope) []string {
	return append([]string{anyAdvice, urgentAdvice}, insight.AdviceCodes()...)
}

func texts[T ~string](all []T) []string {
	return election.Map(all, func(v T) string { return string(v) })
}

// dashed and underscored normalize names, so that lock-delay and lock_delay are equal.
func dashed(s string) string      { return strings.ReplaceAll(s, "_", "-") }
func underscored(s string) string { return strings.ReplaceAll(s, "-", "_") }
