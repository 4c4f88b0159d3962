package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
)

// Limits of a response body after decompression, in bytes.
const (
	// BodyLimit is several times the size of a list of 100,000 elections (36 MB).
	BodyLimit = 256 << 20
	// errorLimit is far above the size of Consul's error bodies.
	errorLimit = 64 << 10
	// largeBody is the size above which only one body is read at a time. Otherwise, each of several concurrent bodies
	// could occupy BodyLimit.
	largeBody = 8 << 20
	// pieceSize is the size of the buffers into which collect reads.
	pieceSize = 1 << 20
)

// errTooLarge reports a body above BodyLimit.
var errTooLarge = fmt.Errorf("the response is larger than %d MB", BodyLimit>>20)

// cutBody is the beginning of an error body. It ends with io.EOF, as if it were complete.
type cutBody struct {
	io.Reader
	io.Closer
}

// boundedBody is a body of at most BodyLimit bytes; reading a larger body fails.
type boundedBody struct {
	io.ReadCloser
	slot   chan struct{}   // the channel is full while a body above largeBody is being read
	done   <-chan struct{} // channel that is closed when the request's context ends; cause returns the reason
	cause  func() error
	direct int64 // number of bytes that Read returns before it collects the rest
	large  bool  // this body occupies the slot for large bodies
	rest   net.Buffers
	err    error // error that ended the read of rest
}

// Read returns the next bytes of the body. It fails with errTooLarge if the body is larger than BodyLimit.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.direct > 0 {
		n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.direct)])
		b.direct -= int64(n)
		return n, err
	}
	if !b.large {
		if err := b.enter(); err != nil {
			return 0, err
		}
		b.rest, b.err = collect(b.ReadCloser, BodyLimit-largeBody)
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.rest.Read(p)
}

// collect reads the rest of a body, at most limit bytes. If the caller read the body piece by piece, the caller's
// buffer could grow to four times BodyLimit before the error.
func collect(in io.Reader, limit int64) (pieces net.Buffers, err error) {
	for {
		piece := bytes.NewBuffer(make([]byte, 0, pieceSize+bytes.MinRead))
		n, err := io.CopyN(piece, in, min(pieceSize, limit+1))
		pieces, limit = append(pieces, piece.Bytes()), limit-n
		switch {
		case limit < 0:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return pieces, nil
		case err != nil:
			return nil, err
		}
	}
}

// enter waits until no other large body is being read.
func (b *boundedBody) enter() error {
	select {
	case b.slot <- struct{}{}:
		b.large = true
		return nil
	case <-b.done:
		return b.cause()
	}
}

// Close closes the body and releases the slot for large bodies.
func (b *boundedBody) Close() error {
	if b.large {
		b.large = false
		<-b.slot
	}
	return b.ReadCloser.Close()
}
