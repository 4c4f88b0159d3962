package campaign

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"electop/internal/consultest"
)

// contradictoryAgent is an agent with contradictory responses. It counts the writes of a candidate: created sessions
// and acquires.
type contradictoryAgent struct {
	acquire string // the response to an acquire
	refused bool   // the acquire fails with 500
	key     func(read int64) string
	renew   int // HTTP status of the response to a renewal
	writes  atomic.Int64
	reads   atomic.Int64
	limit   int64
	exceed  func()
}

func (m *contradictoryAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status, body := m.answer(r)
	return consultest.Answer(r, status, 7, body), nil
}

func (m *contradictoryAgent) answer(r *http.Request) (status int, body string) {
	switch path := r.URL.Path; {
	case path == "/v1/session/create":
		return http.StatusOK, fmt.Sprintf(`{"ID":"session-%d"}`, m.wrote())
	case strings.HasPrefix(path, "/v1/session/renew/"):
		return m.renew, `[{"ID":"` + path[len("/v1/session/renew/"):] + `"}]`
	case r.URL.Query().Has("acquire"):
		m.wrote()
		if m.refused {
			return http.StatusInternalServerError, m.acquire
		}
		return http.StatusOK, m.acquire
	case path == "/v1/txn":
		if pair := m.key(m.reads.Add(1)); pair != "" {
			return http.StatusOK, `{"Results":[{"KV":` + pair + `}]}`
		}
		return http.StatusConflict, `{"Errors":[{"OpIndex":0,"What":"key \"k\" doesn't exist"}]}`
	case r.Method == http.MethodGet:
		if pair := m.key(m.reads.Add(1)); pair != "" {
			return http.StatusOK, "[" + pair + "]"
		}
		return http.StatusNotFound, ""
	}
	return http.StatusOK, "true"
}

func (m *contradictoryAgent) wrote() int64 {
	n := m.writes.Add(1)
	if n > m.limit {
		m.exceed()
	}
	return n
}

func absent(int64) string { return "" }

func heldBy(session string) func(int64) string {
	return func(int64) string {
		return `{"Key":"k","CreateIndex":1,"ModifyIndex":7,"LockIndex":1,"Session":"` + session + `","Value":null,"Flags":0}`
	}
}

// heldThenFree returns a function that returns the key as held in every second read, and as free in the others.
func heldThenFree(session string) func(int64) string {
	return func(read int64) string {
		if read%2 == 0 {
			return heldBy("")(read)
		}
		return heldBy(session)(read)
	}
}

func TestCampaignPausesBetweenAttempts(t *testing.T) {
	tests := map[string]*contradictoryAgent{
		"acquired, but the key does not exist":                 {acquire: "true", key: absent, renew: 200},
		"acquired, but no session holds the key":               {acquire: "true", key: heldBy(""), renew: 200},
		"acquired, but another session holds it":               {acquire: "true", key: heldBy("another"), renew: 200},
		"rejected, although the key does not exist":            {acquire: "false", key: absent, renew: 200},
		"rejected, and the key is free immediately afterwards": {acquire: "false", key: heldThenFree("another"), renew: 200},
		"the key is lost immediately after the acquire":        {acquire: "true", key: heldThenFree("session-1"), renew: 200},
		"every session is invalid":                             {acquire: "invalid session", refused: true, key: absent, renew: 200},
		"every session has ended before its first renewal":     {acquire: "true", key: absent, renew: 404},
		"every acquire fails":                                  {acquire: "rpc error", refused: true, key: absent, renew: 200},
	}
	for name, m := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// An attempt sends two writes: it creates a session and acquires the key. The limit is a quarter
				// above one attempt every 250 ms.
				const span = time.Minute
				m.limit = int64(2 * span / retry * 5 / 4)
				ctx, cancel := context.WithTimeout(t.Context(), span)
				defer cancel()
				m.exceed = cancel
				c := New(over(t, m), Options{Key: "k"})
				for ctx.Err() == nil {
					if l, err := c.Campaign(ctx); err == nil {
						select {
						case <-l.Lost():
						case <-ctx.Done():
						}
					}
				}
				if n := m.writes.Load(); n > m.limit {
					t.Errorf("more than %d writes in %s", m.limit, span)
				} else {
					t.Logf("%d writes in %s", n, span)
				}
				_ = c.Close(context.WithoutCancel(ctx)) // can fail, because Close also gets contradictory responses
			})
		})
	}
}
