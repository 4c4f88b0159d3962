package consulx

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
)

// tap takes the body of one answer out of the hands of Consul's library, which
// sets up the request and judges the answer as ever, and would decode a list of
// keys at many times the cost.
type tap struct{ body io.ReadCloser }

type tapKey struct{}

// tapped marks a request whose answer t is to get.
func tapped(ctx context.Context, t *tap) context.Context {
	return context.WithValue(ctx, tapKey{}, t)
}

// untapped is what the library decodes instead.
const untapped = "null"

// tapTransport gives the bodies of good answers to the taps of their requests.
type tapTransport struct{ http.RoundTripper }

func (t tapTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if into, ok := r.Context().Value(tapKey{}).(*tap); ok && err == nil && answer.StatusCode == http.StatusOK {
		into.body = answer.Body
		answer.Body = io.NopCloser(strings.NewReader(untapped))
	}
	return answer, err
}

// buffers are bodies to be read into. One that is as large as the whole board is
// needed at the start only; the collector takes what is not used again.
type buffers struct{ pool sync.Pool }

// with reads the body that a tap got, if any, and lends it to use.
func (b *buffers) with(t *tap, use func(text []byte) error) (size int, err error) {
	if t.body == nil {
		return 0, nil
	}
	buffer, ok := b.pool.Get().(*bytes.Buffer)
	if !ok {
		buffer = &bytes.Buffer{}
	}
	defer b.pool.Put(buffer)
	buffer.Reset()
	_, err = buffer.ReadFrom(t.body)
	_ = t.body.Close() // what matters was read, or failed to be
	if err != nil {
		return 0, err
	}
	return buffer.Len(), use(buffer.Bytes())
}
