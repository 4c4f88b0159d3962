package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"electop/internal/history"
	"electop/ui"
)

// reportFiles is the maximum number of reports with the same name and minute.
const reportFiles = 100

// writeIncidents writes an incident report about elections to a new file in the current folder. It returns the name of
// the file. It omits elections that have no history.
func writeIncidents(ctx context.Context, source history.Source, all []ui.Subject, r history.Range) (string, error) {
	var text []byte
	var names []string
	var unknown error
	for _, of := range all {
		incident, err := readIncident(ctx, source, of, r)
		switch {
		case errors.Is(err, history.ErrNoElection):
			unknown = err
			continue
		case err != nil:
			return "", err
		}
		if len(names) > 0 {
			text = append(text, '\n')
		}
		text, names = append(text, incident.Markdown()...), append(names, incident.Name)
	}
	if len(names) == 0 {
		return "", unknown
	}
	name := "electop-report-" + fileName(names) + r.Until.Local().Format("-20060102-1504")
	return createReport(name, text)
}

// fileName returns the part of a report's file name that names its elections.
func fileName(names []string) string {
	if len(names) > 1 {
		return fmt.Sprintf("%d-elections", len(names))
	}
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._", r)) {
			return r
		}
		return '-'
	}, names[0])
	return name[:min(len(name), 80)]
}

// createReport writes the text to a new file. If a file with this name exists, it appends a number to the name.
func createReport(name string, text []byte) (string, error) {
	for n := 1; ; n++ {
		path := name + ".md"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.md", name, n)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < reportFiles {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path))
		}
		return path, nil
	}
}
