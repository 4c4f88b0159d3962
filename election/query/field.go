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
	all := []Scope{Elections, Events, Sessions}
	return []Field{
		{Name: "state", Example: "state:vacant", Means: "the state", Scopes: []Scope{Elections, Sessions}, values: states},
		{Name: "election", Example: "election:web", Means: "the whole name or the whole key", Scopes: all},
		{Name: "leader", Example: "leader:web", Means: "a part of the leader's name", Scopes: []Scope{Elections, Events}},
		{Name: "node", Example: "node:node-2", Means: "a part of the node's name; without a leader, the last leader's node", Scopes: all},
		{Name: "session", Example: "session:4f5a", Means: "the beginning of the session's ID, or a part of its name", Scopes: all},
		{Name: "key", Example: "key:service/web", Means: "a part of the key", Scopes: all},
		{Name: "dc", Example: "dc:dc1", Means: "the whole name of the datacenter", Scopes: all},
		{Name: "cause", Example: "cause:check_critical", Means: "why the last term ended", Scopes: []Scope{Elections, Events}, values: causes},
		{Name: "for", Example: "for:<10m", Means: "how long the election has been led or vacant; < needs a known beginning", Scopes: []Scope{Elections}, parse: parseAge},
		{Name: "changes", Example: "changes:>3", Means: "new leaders in the last hour, except after an operator's action", Scopes: []Scope{Elections}, parse: parseCount},
		{Name: "advice", Example: "advice:any", Means: "any or urgent advice, or advice with this code", Scopes: []Scope{Elections}, values: advice},
		{Name: "type", Example: "type:elected", Means: "the type of the event", Scopes: []Scope{Events}, values: types},
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
