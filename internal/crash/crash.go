// Package crash lets a program end in order after a panic in any goroutine, for example to restore the terminal. The Go
// runtime would end the program immediately.
package crash

import (
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Panic is the first panic of the program.
type Panic struct {
	Value any
	Stack []byte // stack trace of the goroutine
}

var handler atomic.Pointer[func(Panic)] //nolint:gochecknoglobals // a panic in any goroutine ends the whole process

// Handle sets the function that receives the first panic, and should end the program. The returned function removes it.
// Without a handler, the Go runtime ends the program.
func Handle(f func(Panic)) (remove func()) {
	var once sync.Once
	first := func(p Panic) { once.Do(func() { f(p) }) } // goroutines with later panics wait until the program ends
	handler.Store(&first)
	return func() { handler.Store(nil) }
}

// Recover passes a panic to the handler. Defer it in the first function of a goroutine.
func Recover() {
	h := handler.Load()
	if h == nil {
		return
	}
	if v := recover(); v != nil {
		(*h)(Panic{Value: v, Stack: debug.Stack()})
	}
}

// Go is like wg.Go, but passes a panic to the handler.
func Go(wg *sync.WaitGroup, f func()) {
	wg.Go(func() {
		defer Recover()
		f()
	})
}

// Each calls f with the numbers below n, at most limit calls at a time, and waits for all calls.
func Each(n, limit int, f func(i int)) {
	var g errgroup.Group
	g.SetLimit(limit)
	for i := range n {
		g.Go(func() error {
			defer Recover()
			f(i)
			return nil
		})
	}
	_ = g.Wait() // f returns no error
}
