package consulx

import (
	"context"
	"errors"
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
	buffer, ok := b.pool.Get().(*[]byte)
	if !ok {
		buffer = new([]byte)
	}
	*buffer, err = readAll(t.body, (*buffer)[:0])
	defer func() {
		if cap(*buffer) <= largeBody {
			b.pool.Put(buffer)
		}
	}()
	_ = t.body.Close() // what matters was read, or failed to be
	if err != nil {
		return 0, err
	}
	return len(*buffer), use(*buffer)
}

// firstRoom is how much of an answer is read at first: that of a shard fits. A
// larger one gets the room that it needs in a few steps, a very large one in
// smaller ones, so that little of it stays unused.
const (
	firstRoom  = 64 << 10
	roomFactor = 4
	lateFactor = 2
)

// readAll reads to the end, into the room that text has, or more.
func readAll(in io.Reader, text []byte) ([]byte, error) {
	for {
		if len(text) == cap(text) {
			factor := roomFactor
			if cap(text) >= largeBody {
				factor = lateFactor
			}
			text = append(make([]byte, 0, max(firstRoom, factor*cap(text))), text...)
		}
		n, err := in.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}
