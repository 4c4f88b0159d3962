package election

import "errors"

// Errors of reads and actions in any store, for errors.Is.
var (
	// ErrMoved reports that the lock state changed since the action was chosen. Nothing was written.
	ErrMoved = errors.New("lock state changed; nothing was written")
	// ErrUnknown reports that the store did not confirm a write, so the write may have been applied.
	ErrUnknown = errors.New("unknown whether the write was applied")
	// ErrRefused reports that electop refuses the action on this key. Nothing was written.
	ErrRefused = errors.New("refused")
	// ErrDenied reports that the store denied the request.
	ErrDenied = errors.New("permission denied")
	// ErrNoSession reports that the session does not exist.
	ErrNoSession = errors.New("no such session")
	// ErrUnreachable reports that a request failed without a complete response from the store.
	ErrUnreachable = errors.New("cannot reach the store")
	// ErrIncomplete reports that the user may not read all of the data. A function returns it together with the readable
	// data.
	ErrIncomplete = errors.New("not all readable with this token")
)
