package settings

import (
	"encoding/json"
	"slices"
	"strings"
)

// Schema returns the JSON schema of files with these settings.
func Schema(title string, of []Setting) ([]byte, error) {
	root := object(of)
	root["$schema"], root["title"] = "https://json-schema.org/draft/2020-12/schema", title
	text, err := json.MarshalIndent(root, "", "  ")
	return append(text, '\n'), err
}

// object returns the schema of a section.
func object(of []Setting) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, s := range of {
		properties[s.Name] = s.schema()
		if s.Required {
			required = append(required, s.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (s Setting) schema() map[string]any {
	var schema map[string]any
	switch s.Kind {
	case Section:
		schema = object(s.Fields)
	case Named:
		schema = map[string]any{"type": "object", "additionalProperties": object(s.Fields)}
	case Sections:
		schema = map[string]any{"type": "array", "items": object(s.Fields)}
	case List:
		item := s.one()
		schema = map[string]any{"anyOf": []any{item, map[string]any{"type": "array", "items": item}}}
	default:
		schema = s.one()
	}
	schema["description"] = s.About
	return schema
}

// one returns the schema of one value, without its description.
func (s Setting) one() map[string]any {
	switch {
	case s.Kind == Bool:
		return map[string]any{"type": "boolean"}
	case s.Kind == Integer:
		return map[string]any{"type": "integer"}
	case s.Allowed != nil:
		return map[string]any{"type": "string", "enum": slices.Concat(s.Allowed, s.Aliases)}
	case s.Kind == List: // allow an integer, because a key may be a digit
		return map[string]any{"type": []string{"string", "integer"}}
	}
	return map[string]any{"type": "string"}
}

// Template returns a config file that contains every setting and its description as comments.
func Template(head string, of []Setting) string {
	var b strings.Builder
	comment(&b, "# ", head)
	for _, s := range of {
		b.WriteByte('\n')
		s.template(&b, "")
	}
	return b.String()
}

func (s Setting) template(b *strings.Builder, indent string) {
	comment(b, "# "+indent, s.About)
	if s.Allowed != nil {
		comment(b, "# "+indent, "Values: "+strings.Join(s.Allowed, ", "))
	}
	first := indent + "  "
	switch s.Kind {
	case Section:
		b.WriteString("#" + indent + s.Name + ":\n")
	case Sections:
		b.WriteString("#" + indent + s.Name + ":\n")
		first, indent = indent+"  - ", indent+"  "
	case Named:
		b.WriteString("#" + indent + s.Name + ":\n#" + indent + "  " + s.Example + ":\n")
		indent += "  "
		first = indent + "  "
	default:
		b.WriteString("#" + indent + s.Name + ": " + s.Example + "\n")
	}
	for _, f := range s.Fields {
		b.WriteString("#" + first + f.Name + ": " + f.Example + "\n")
		first = indent + "  "
	}
}

// comment writes text in lines that begin with lead.
func comment(b *strings.Builder, lead, text string) {
	const width = 100
	line := lead
	for _, word := range strings.Fields(text) {
		if len(line)+len(word) > width && line != lead {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = lead
		}
		line += word + " "
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
