package output

import (
	"bytes"
	"encoding/json"
	"io"

	"electop/election/sanitize"
)

// WriteArray writes a JSON array with one element per line, safe to print.
func WriteArray[T any](w io.Writer, all []T, marshal func(T) ([]byte, error)) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range all {
		text, err := marshal(item)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(sanitize.JSON(text))
	}
	if len(all) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	_, err := w.Write(b.Bytes())
	return err
}

// WriteIndented writes a value as indented JSON, safe to print.
func WriteIndented(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, sanitize.JSON(text), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}
