package watch

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// handle is the handler of `consul watch`. It reads all keys and prints those that changed since the index in its
// state file. It decodes as little as possible, because consul runs its next query only when the handler has ended.
func handle(in io.Reader, out io.Writer, args []string) error {
	if len(args) != 1 {
		return errors.New("the handler needs the path of its state file")
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	at := time.Now().UnixNano()
	last, first, err := readIndex(args[0])
	if err != nil {
		return err
	}
	if first {
		if _, err := fmt.Fprintf(out, "@%d ready %d\n", at, bytes.Count(text, []byte(`{"Key":`))); err != nil {
			return err
		}
	}
	highest := last
	for object := range bytes.SplitSeq(text, []byte("},{")) {
		index := numberAfter(object, `"ModifyIndex":`)
		highest = max(highest, index)
		if index <= last || first {
			continue
		}
		if _, err := fmt.Fprintf(out, "@%d %s\n", at, valueOf(object)); err != nil {
			return err
		}
	}
	return os.WriteFile(args[0], []byte(strconv.FormatUint(highest, 10)), 0o600)
}

// readIndex returns the highest index of the previous run. first is true if there was no previous run.
func readIndex(path string) (index uint64, first bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, true, nil
	}
	if err != nil {
		return 0, false, err
	}
	index, err = strconv.ParseUint(string(text), 10, 64)
	return index, false, err
}

func numberAfter(text []byte, name string) uint64 {
	_, after, _ := bytes.Cut(text, []byte(name))
	end := bytes.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(after)
	}
	n, err := strconv.ParseUint(string(after[:end]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func valueOf(object []byte) []byte {
	_, after, _ := bytes.Cut(object, []byte(`"Value":"`))
	coded, _, _ := bytes.Cut(after, []byte(`"`))
	value := make([]byte, base64.StdEncoding.DecodedLen(len(coded)))
	n, err := base64.StdEncoding.Decode(value, coded)
	if err != nil {
		return nil
	}
	return value[:n]
}
