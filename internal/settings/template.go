package settings

import "strings"

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
