package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
)

// historyTokenEnv is the environment variable with the token for the URL of --history. --history-token-file overrides
// it.
const historyTokenEnv = "ELECTOP_HISTORY_TOKEN"

// isURL reports whether a value of --history is the URL of a recorder.
func isURL(value string) bool { return strings.Contains(value, "://") }

// historyClient returns the client of the recorder at the URL of --history. It sends no
// request.
func (o *options) historyClient() (*web.Client, error) {
	token := os.Getenv(historyTokenEnv)
	if o.historyTokenFile != "" {
		text, err := readToken(o.historyTokenFile)
		if err != nil {
			return nil, fmt.Errorf("--history-token-file: %w", err)
		}
		token = text
	}
	var roots *x509.CertPool
	if o.historyCAFile != "" {
		text, err := os.ReadFile(o.historyCAFile)
		if err != nil {
			return nil, fmt.Errorf("--history-ca-file: %w", err)
		}
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(text) {
			return nil, errors.New("--history-ca-file: the file contains no PEM certificate")
		}
	}
	token = strings.TrimSpace(token)
	o.opened.hide(token)
	return web.NewClient(web.ClientOptions{URL: o.history, Token: token, CAs: roots})
}

// readToken reads a token from a file and removes the white space around it.
func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return "", errors.New("the file is empty")
	}
	return string(text), nil
}

// checkHistoryURL rejects an invalid URL, and warns if other hosts could read the token and the history on the network.
// [historyFlag.Set] does not check the URL, because pflag would repeat the value, which may contain a password.
func checkHistoryURL(cmd *cobra.Command, url string) error {
	if !isURL(url) {
		return nil
	}
	if err := web.CheckURL(url); err != nil {
		return usagef("--history: %v", err)
	}
	if web.Exposed(url) {
		fmt.Fprintln(cmd.ErrOrStderr(), "electop: warning: --history uses http, so the token and the history are not encrypted; use https")
	}
	return nil
}

const (
	// recorderEvery is the time between two checks of the recorder while the dashboard is open.
	recorderEvery = 10 * time.Second
	// recorderTimeout bounds a check.
	recorderTimeout = 5 * time.Second
)

// watchHistory calls check periodically until ctx ends. It sends each returned line that differs from the last line
// sent. An empty line means that the history can be used.
func watchHistory(ctx context.Context, every time.Duration, check func(context.Context) string, lines chan<- string) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for shown := ""; ; {
		if line := check(ctx); line != shown && ctx.Err() == nil {
			select {
			case lines <- line:
				shown = line
			case <-ctx.Done():
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// checkRecorder returns why the recorder cannot be used. It returns "" if the recorder can be used.
func checkRecorder(ctx context.Context, source history.Source) string {
	ctx, cancel := context.WithTimeout(ctx, recorderTimeout)
	defer cancel()
	recent, err := source.Observations(ctx, history.Range{Since: time.Now().Add(-time.Hour)})
	switch {
	case err != nil:
		return historyError(err)
	case !slices.ContainsFunc(recent, func(o history.Observation) bool { return o.Lasting }):
		return "history: the recorder does not observe Consul at present"
	}
	return ""
}

const (
	// sendTimeout bounds the request that records an action. Two of them together take less than closeTimeout.
	sendTimeout = 4 * time.Second
	// maxUnsent is the maximum number of actions in the queue for a recorder.
	maxUnsent = 1000
)

// actionSender sends operators' actions to a recorder, which observes the events itself.
type actionSender struct {
	recorder *web.Client
	warn     func(line string)
	wake     chan struct{}

	mu    sync.Mutex
	queue []history.Action
}

func newActionSender(c *web.Client, warn func(line string)) *actionSender {
	return &actionSender{recorder: c, warn: warn, wake: make(chan struct{}, 1)}
}

// Record does nothing: the recorder observes the events.
func (*actionSender) Record([]election.Event) {}

// Status is always the zero value: a sender stores no events.
func (*actionSender) Status() sqlite.Status { return sqlite.Status{} }

// Observe does nothing: the recorder observes the elections with its own patterns.
func (*actionSender) Observe(election.Patterns) {}

// RecordAction queues an action without blocking. If the queue is full, it drops the action.
func (s *actionSender) RecordAction(a history.Action) {
	s.mu.Lock()
	if len(s.queue) < maxUnsent {
		s.queue = append(s.queue, a)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends actions until ctx ends, and then the actions that are still queued.
func (s *actionSender) Run(ctx context.Context) error {
	defer s.recorder.Close()
	for {
		select {
		case <-s.wake:
			s.send(context.WithoutCancel(ctx))
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
			defer cancel()
			s.send(last)
			return nil
		}
	}
}

// send sends the queued actions. It never sends an action twice: if the response was lost, the recorder may have
// stored the action.
func (s *actionSender) send(ctx context.Context) {
	s.mu.Lock()
	queue := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, a := range queue {
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		if err := s.recorder.Record(ctx, a); err != nil {
			s.warn(fmt.Sprintf("the %s of %s may be missing from the history: %s", a.Kind, sanitize.Line(cmp.Or(a.Key, a.Session), 100), historyError(err)))
		}
		cancel()
	}
}
