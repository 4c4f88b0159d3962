// Package settings parses a config file in YAML. Each error contains the file, the line and the allowed values.
package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"electop/election/sanitize"
)

// Kind is the form of a setting's value.
type Kind uint8

// The kinds. A list with one value may be written without brackets. A Section contains the settings in Fields. In
// a Named section, the user chooses the names of the members, and each member contains the settings in Fields.
// Sections is a list of sections.
const (
	Text Kind = iota
	Bool
	List
	Section
	Named
	Sections
)

// Setting describes one setting.
type Setting struct {
	Name, About string
	Kind        Kind
	// Allowed contains the allowed values. nil allows all values.
	Allowed []string
	// Aliases contains additional allowed values that messages do not list.
	Aliases []string
	// Check returns an error for invalid values. nil accepts all values.
	Check func(values []string) error
	// Fields contains the settings of a Section, or of each member of a Named section.
	Fields []Setting
	// Required is set for a field that each section must have.
	Required bool
	// CheckFields returns an invalid field of a section and its error, or nil if all fields are valid. For a list of
	// sections, the fields are the items, and the name of an item is its position, such as "1".
	CheckFields func(fields []Value) (field string, err error)
	// Example is the value in the template, in YAML on one line.
	Example string
}

// Value is a setting in a file. A section has Fields; every other setting has Texts.
type Value struct {
	Name   string
	Line   int
	Texts  []string
	Fields []Value
}

// Field returns the field with this name, or nil if the section does not contain it.
func (v *Value) Field(name string) *Value {
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return &v.Fields[i]
		}
	}
	return nil
}

// Error is a problem in a line of a file. Line 0 means the whole file.
type Error struct {
	Path string
	Line int
	Text string
}

func (e *Error) Error() string {
	where := sanitize.Line(e.Path, 200)
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	return "config file " + where + ": " + e.Text
}

// Parse parses the text of a file. Every error is an [Error].
func Parse(path string, text []byte, of []Setting) (Value, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return Value{}, syntaxError(path, err)
	}
	if len(doc.Content) == 0 {
		return Value{}, nil
	}
	p := parser{path}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return Value{}, nil
	}
	return p.value("", root, Setting{Kind: Section, Fields: of})
}

// syntaxError separates the line number from the text of a YAML error.
func syntaxError(path string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if number, rest, found := strings.Cut(strings.TrimPrefix(text, "line "), ": "); found {
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, rest
		}
	}
	return &Error{path, line, sanitize.Line(text, 200)}
}

type parser struct{ path string }

func (p parser) fail(at *yaml.Node, format string, args ...any) error {
	return &Error{p.path, at.Line, fmt.Sprintf(format, args...)}
}

// value parses one setting. name is its full name for errors.
func (p parser) value(name string, node *yaml.Node, of Setting) (Value, error) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	v := Value{Name: of.Name, Line: node.Line}
	switch of.Kind {
	case Section, Named:
		return p.section(name, node, of)
	case Sections:
		return p.sections(name, node, of)
	default:
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag == "!!null":
		return v, p.fail(node, "%s: the value is missing", name)
	case node.Kind == yaml.ScalarNode:
		v.Texts = []string{node.Value}
	case node.Kind == yaml.SequenceNode && of.Kind == List:
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return v, p.fail(item, "%s: each value of the list must be a string", name)
			}
			v.Texts = append(v.Texts, item.Value)
		}
	case of.Kind == List:
		return v, p.fail(node, "%s: must be a string or a list of strings", name)
	default:
		return v, p.fail(node, "%s: must be a single value", name)
	}
	return v, p.check(name, node, v.Texts, of)
}

// check returns an error if the setting does not allow one of the values.
func (p parser) check(name string, node *yaml.Node, values []string, of Setting) error {
	allowed := of.Allowed
	if of.Kind == Bool {
		allowed = []string{"true", "false"}
	}
	for i, text := range values {
		if allowed == nil || slices.Contains(allowed, text) || slices.Contains(of.Aliases, text) {
			continue
		}
		at := node
		if node.Kind == yaml.SequenceNode {
			at = node.Content[i]
		}
		return p.fail(at, "%s: %q is not valid; must be one of %s", name, sanitize.Line(text, 40), strings.Join(allowed, ", "))
	}
	if of.Check == nil {
		return nil
	}
	if err := of.Check(values); err != nil {
		return p.fail(node, "%s: %s", name, sanitize.Line(err.Error(), 300))
	}
	return nil
}

// section parses the fields of a section.
func (p parser) section(name string, node *yaml.Node, of Setting) (Value, error) {
	v := Value{Name: of.Name, Line: node.Line}
	if node.Kind != yaml.MappingNode {
		if name == "" {
			return v, p.fail(node, "must contain lines of the form \"setting: value\"")
		}
		return v, p.fail(node, "%s: must contain lines of the form \"name: value\"", name)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		full := strings.TrimPrefix(name+"."+sanitize.Line(key.Value, 40), ".")
		if before := v.Field(key.Value); before != nil {
			return v, p.fail(key, "%s: must be set only once", full)
		}
		field, err := p.find(key, full, of)
		if err != nil {
			return v, err
		}
		value, err := p.value(full, node.Content[i+1], field)
		if err != nil {
			return v, err
		}
		value.Line = key.Line
		v.Fields = append(v.Fields, value)
	}
	for _, field := range of.Fields {
		if field.Required && v.Field(field.Name) == nil {
			return v, p.fail(node, "%s: %s is missing", name, field.Name)
		}
	}
	return v, p.checkFields(name, node, v.Fields, of)
}

// sections reads a list of sections.
func (p parser) sections(name string, node *yaml.Node, of Setting) (Value, error) {
	v := Value{Name: of.Name, Line: node.Line}
	if node.Kind != yaml.SequenceNode {
		return v, p.fail(node, "%s: must be a list whose items begin with \"- \"", name)
	}
	for i, item := range node.Content {
		number := strconv.Itoa(i + 1)
		one, err := p.value(name+"."+number, item, Setting{Name: number, Kind: Section, Fields: of.Fields})
		if err != nil {
			return v, err
		}
		v.Fields = append(v.Fields, one)
	}
	return v, p.checkFields(name, node, v.Fields, of)
}

// find returns the description of a field.
func (p parser) find(key *yaml.Node, full string, of Setting) (Setting, error) {
	if of.Kind == Named {
		if key.Value == "" || sanitize.Line(key.Value, 40) != key.Value {
			return Setting{}, p.fail(key, "%s: the name must have 1 to 40 visible characters", full)
		}
		return Setting{Name: key.Value, Kind: Section, Fields: of.Fields}, nil
	}
	var names []string
	for _, field := range of.Fields {
		if field.Name == key.Value {
			return field, nil
		}
		names = append(names, field.Name)
	}
	return Setting{}, p.fail(key, "unknown setting %q; must be one of %s", full, strings.Join(names, ", "))
}

func (p parser) checkFields(name string, node *yaml.Node, fields []Value, of Setting) error {
	if of.CheckFields == nil {
		return nil
	}
	wrong, err := of.CheckFields(fields)
	if err == nil {
		return nil
	}
	at := node.Line
	for _, f := range fields {
		if f.Name == wrong {
			at = f.Line
		}
	}
	return &Error{p.path, at, name + "." + sanitize.Line(err.Error(), 300)}
}
