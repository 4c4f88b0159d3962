package memconsul

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"electop/internal/memconsul/store"
)

// maxValueSize is the maximum length of a value in bytes.
const maxValueSize = 512 << 10

func (a *Agent) serveKV(rq *request) (any, error) {
	key, err := cleanKey(rq.rest)
	if err != nil {
		return nil, err
	}
	switch {
	case rq.r.Method == http.MethodPut:
		return a.kvPut(rq, key)
	case rq.r.Method == http.MethodDelete:
		return a.kvDelete(rq, key)
	case rq.params.Has("keys"):
		return a.kvKeys(rq, key)
	case rq.params.Has("recurse"):
		return a.kvList(rq, key)
	default:
		return a.kvGet(rq, key)
	}
}

// cleanKey converts the path after /v1/kv/ to a key. It normalizes the path like Consul: "a//b" and "a/./b" become
// "a/b".
func cleanKey(raw string) (string, error) {
	if raw == "" {
		return "", nil
	}
	key := path.Clean(raw)
	if strings.HasSuffix(raw, "/") && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	if strings.HasPrefix(key, " ") || strings.HasSuffix(key, " ") {
		return "", errors.New("invalid key name, leading/trailing spaces are not allowed")
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == ".." {
			return "", errors.New("invalid key name, path traversal is not allowed")
		}
	}
	return key, nil
}

func missingKey() error { return badRequest("Missing key name") }

func (a *Agent) kvGet(rq *request, key string) (any, error) {
	if key == "" {
		return nil, missingKey()
	}
	e, ok := query(rq, a.store.Key(key))
	if !ok {
		return nil, nil
	}
	if e == nil {
		rq.w.WriteHeader(http.StatusNotFound)
		return nil, nil
	}
	if rq.params.Has("raw") {
		rq.writeRaw(e.Value)
		return nil, nil
	}
	return []*store.Entry{e}, nil
}

func (rq *request) writeRaw(value []byte) {
	h := rq.w.Header()
	h.Set("Content-Length", strconv.Itoa(len(value)))
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox")
	_, _ = rq.w.Write(value)
}

func (a *Agent) kvList(rq *request, prefix string) (any, error) {
	entries, ok := query(rq, a.store.Keys(prefix))
	if !ok {
		return nil, nil
	}
	if len(entries) == 0 {
		rq.w.WriteHeader(http.StatusNotFound)
		return nil, nil
	}
	return entries, nil
}

func (a *Agent) kvKeys(rq *request, prefix string) (any, error) {
	entries, ok := query(rq, a.store.Keys(prefix))
	if !ok {
		return nil, nil
	}
	if len(entries) == 0 && prefix != "" {
		rq.w.WriteHeader(http.StatusNotFound)
		return nil, nil
	}
	// Consul also accepts the old, misspelled parameter.
	sep := rq.params.Get("seperator")
	if rq.params.Has("separator") {
		sep = rq.params.Get("separator")
	}
	keys := make([]string, 0, len(entries))
	for _, e := range entries {
		key := upToSeparator(e.Key, prefix, sep)
		if len(keys) == 0 || keys[len(keys)-1] != key {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// upToSeparator truncates a key after the first separator that follows the prefix.
func upToSeparator(key, prefix, sep string) string {
	if sep == "" {
		return key
	}
	if at := strings.Index(key[len(prefix):], sep); at >= 0 {
		return key[:len(prefix)+at+len(sep)]
	}
	return key
}

func (a *Agent) kvPut(rq *request, key string) (any, error) {
	if key == "" {
		return nil, missingKey()
	}
	if err := conflictingFlags(rq.params, "cas", "acquire", "release"); err != nil {
		return nil, err
	}
	e := &store.Entry{Key: key}
	var err error
	if e.Flags, err = uintParam(rq.params, "flags"); err != nil {
		return nil, err
	}
	if e.ModifyIndex, err = uintParam(rq.params, "cas"); err != nil {
		return nil, err
	}
	if e.Value, err = readValue(rq.r); err != nil {
		return nil, err
	}
	switch {
	case rq.params.Has("acquire"):
		e.Session = rq.params.Get("acquire")
		return a.store.Acquire(e)
	case rq.params.Has("release"):
		e.Session = rq.params.Get("release")
		return a.store.Release(e)
	case rq.params.Has("cas"):
		return a.store.CAS(e), nil
	default:
		a.store.Set(e)
		return true, nil
	}
}

func (a *Agent) kvDelete(rq *request, key string) (any, error) {
	if err := conflictingFlags(rq.params, "recurse", "cas"); err != nil {
		return nil, err
	}
	tree := rq.params.Has("recurse")
	if key == "" && !tree {
		return nil, missingKey()
	}
	index, err := uintParam(rq.params, "cas")
	if err != nil {
		return nil, err
	}
	switch {
	case tree:
		a.store.DeleteTree(key)
	case rq.params.Has("cas"):
		return a.store.DeleteCAS(key, index), nil
	default:
		a.store.Delete(key)
	}
	return true, nil
}

func conflictingFlags(params url.Values, flags ...string) error {
	given := 0
	for _, flag := range flags {
		if params.Has(flag) {
			given++
		}
	}
	if given > 1 {
		return badRequest("Conflicting flags: %v\n", params.Encode())
	}
	return nil
}

func uintParam(params url.Values, name string) (uint64, error) {
	if !params.Has(name) {
		return 0, nil
	}
	return strconv.ParseUint(params.Get(name), 10, 64)
}

// readValue reads the body. It returns nil for an empty body, which the API encodes as null.
func readValue(r *http.Request) ([]byte, error) {
	if r.ContentLength > maxValueSize {
		return nil, tooLarge("Request body(%d bytes) too large, max size: %d bytes. See %s.", r.ContentLength, maxValueSize,
			"https://developer.hashicorp.com/docs/agent/config/config-files#kv_max_value_size")
	}
	var buf bytes.Buffer
	if r.Body == nil {
		return nil, nil
	}
	if _, err := io.Copy(&buf, http.MaxBytesReader(nil, r.Body, maxValueSize+1)); err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			return nil, tooLarge("Request body too large. Max allowed is %d bytes.", maxValueSize)
		}
		return nil, err
	}
	if buf.Len() == 0 {
		return nil, nil
	}
	return buf.Bytes(), nil
}

func tooLarge(format string, args ...any) error {
	return &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf(format, args...)}
}
