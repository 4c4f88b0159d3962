package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/web"
)

// same compares the results from the file with those from the recorder.
func same[Q, T any](t *testing.T, name string, file, remote func(context.Context, Q) (T, error), queries ...Q) {
	t.Helper()
	for i, q := range queries {
		want, err := file(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := remote(t.Context(), q)
		if err != nil || !reflect.DeepEqual(got, want) || reflect.ValueOf(got).IsZero() {
			t.Errorf("%s %d: %v\n%.300v, want\n%.300v", name, i, err, got, want)
		}
	}
}

func TestARecorderGivesWhatItsFileGives(t *testing.T) {
	s := serve(t, nil)
	c := client(t, s.URL+"/")
	some := history.Filter{Range: history.Range{Since: at(10), Until: at(40)}, Names: []string{"web-0", "service/web-1/leader"}, Datacenters: []string{"dc1"}}
	older := history.Cursor(fmt.Sprintf("o%d.0", at(20).UnixNano()))
	same(t, "events", s.file.Events, c.Events, history.EventQuery{}, history.EventQuery{Limit: 1000}, history.EventQuery{Filter: some, Limit: 3},
		history.EventQuery{Types: []election.EventType{election.Vacated, election.Missed}, Causes: []election.Cause{election.Unknown}},
		history.EventQuery{Page: "s0.0", Limit: 5}, history.EventQuery{Page: older, Limit: 5})
	same(t, "terms", s.file.Terms, c.Terms, history.TermQuery{Limit: 1000}, history.TermQuery{Filter: some, Limit: 4}, history.TermQuery{Causes: []election.Cause{election.Unknown}},
		history.TermQuery{Page: older, Limit: 5}, history.TermQuery{Page: history.Oldest, Limit: 2})
	same(t, "stats", s.file.Stats, c.Stats, history.Filter{}, some)
	same(t, "state", s.file.State, c.State, at(0), at(17), at(1000))
	same(t, "observations", s.file.Observations, c.Observations, history.Range{})
	same(t, "actions", s.file.Actions, c.Actions, history.Range{})
	elections := func(read func(context.Context) ([]history.Election, error)) func(context.Context, bool) ([]history.Election, error) {
		return func(ctx context.Context, _ bool) ([]history.Election, error) { return read(ctx) }
	}
	same(t, "elections", elections(s.file.Elections), elections(c.Elections), true)
	for _, tt := range []struct {
		q    history.EventQuery
		want error
	}{{history.EventQuery{Filter: history.Filter{Names: []string{"none"}}}, history.ErrNoElection}, {history.EventQuery{Page: "x"}, history.ErrCursor}} {
		if _, err := c.Events(t.Context(), tt.q); !errors.Is(err, tt.want) {
			t.Errorf("%v, want %v", err, tt.want)
		}
	}
	if len(s.errors) > 0 {
		t.Errorf("%v", s.errors)
	}
}

// The identity of a cluster that does not respond is read again.
func TestARecorderOfOtherClusters(t *testing.T) {
	var told []string
	s := serve(t, func(o *web.Options) {
		o.Belongs = func(_ context.Context, cluster string) error {
			if told = append(told, cluster); cluster == "b=other" {
				return history.ErrCluster
			}
			return nil
		}
	})
	b := ""
	c := clientOf(t, web.ClientOptions{URL: s.URL, Clusters: []func(context.Context) string{
		func(context.Context) string { return "a=one" }, func(context.Context) string { return b },
	}})
	if _, err := c.Elections(t.Context()); err != nil || !slices.Equal(told, []string{"a=one", ""}) {
		t.Error(told, err)
	}
	b = "b=other"
	if _, err := c.Elections(t.Context()); !errors.Is(err, history.ErrCluster) {
		t.Error(told, err)
	}
}

func TestURLsOfRecorders(t *testing.T) {
	for url, valid := range map[string]bool{
		"https://recorder:9273": true, "https://recorder/electop/": true, "http://[::1]:9": true,
		"ftp://recorder": false, "https://": false, "https://ana:secret@recorder": false, "https://recorder?token=x": false, "https://re corder": false,
	} {
		if _, err := web.ParseURL(url); (err == nil) != valid || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, exposed := range map[string]bool{
		"https://recorder": false, "http://recorder": true, "http://localhost:1": false, "http://127.0.0.2:1": false, "http://[::1]:1": false, "http://127.0.0.1.example.com": true,
	} {
		if u, err := web.ParseURL(url); err != nil || (u.Scheme == "http" && !web.Loopback(u.Hostname())) != exposed {
			t.Errorf("%s: %v", url, !exposed)
		}
	}
	for _, token := range []string{"two words", "line\nbreak", "ümlaut"} {
		if _, err := web.NewClient(web.ClientOptions{URL: "https://recorder", Token: token}); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

const theToken = `0b5c2f0e"2222<3333&4444%5555`

// raw returns a handler that writes bytes that need not be valid HTTP.
func raw(format string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			fmt.Fprintf(conn, format, r.Header.Get("Authorization"))
			conn.Close()
		}
	}
}

func TestNoErrorContainsTheToken(t *testing.T) {
	elsewhere := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.Header.Get("Authorization") }))
	defer other.Close()
	body := func(code int, header string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			token := r.Header.Get("Authorization")
			if header != "" {
				w.Header().Set(header, token)
			}
			text, _ := json.Marshal(map[string]string{"error": token, "code": token, "time": token})
			w.WriteHeader(code)
			w.Write(text)
		}
	}
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/?"+url.QueryEscape(r.Header.Get("Authorization")), http.StatusFound)
	}
	leaks := []string{theToken, url.QueryEscape(theToken), url.PathEscape(theToken), strconv.Quote(theToken), "0b5c2f0e"}
	for i, h := range []http.HandlerFunc{
		body(200, ""), body(400, ""), body(401, "WWW-Authenticate"), body(503, "Retry-After"), body(500, "Content-Encoding"), redirect,
		raw("HTTP/1.1 %s\r\n\r\n"), raw("%s\r\n"), raw("HTTP/1.1 200 OK\r\n%s\r\n\r\n"),
		raw("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"), raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"), raw(""),
	} {
		s := httptest.NewServer(h)
		c := clientOf(t, web.ClientOptions{URL: s.URL, Token: theToken})
		_, err1 := c.Events(t.Context(), history.EventQuery{})
		_, err2 := c.Stats(t.Context(), history.Filter{})
		err3 := c.Record(t.Context(), history.Action{}) // accepts any successful response
		for n, err := range []error{err1, err2, err3} {
			switch {
			case err == nil && n < 2 && i != 0:
				t.Errorf("%d: no error", i)
			case err == nil:
			case strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "history at "+s.URL+": "),
				slices.ContainsFunc(leaks, func(leak string) bool { return strings.Contains(err.Error(), leak) }):
				t.Errorf("response %d: %q", i, err)
			}
		}
		s.Close()
	}
	if len(elsewhere) > 0 {
		t.Errorf("another host received %q", <-elsewhere)
	}
}

func TestErrorsOfRecordersThatDoNotRespond(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l.Close()
	_, err = client(t, "http://"+l.Addr().String()).Stats(t.Context(), history.Filter{})
	if want := "history at http://" + l.Addr().String() + ": connection refused"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err = client(t, silent.URL).Stats(ctx, history.Filter{}); err == nil || !strings.HasSuffix(err.Error(), ": request timed out") {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err = client(t, silent.URL).Stats(ctx, history.Filter{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLargeResponsesAndRequests(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	if _, err := client(t, endless.URL).Actions(t.Context(), history.Range{}); err == nil || !strings.Contains(err.Error(), "larger than 128 MB") {
		t.Error(err)
	}
	s := httptest.NewServer(web.NewHandler(web.Options{Source: fake{}, Local: true, Metrics: http.NotFoundHandler()}))
	defer s.Close()
	for n, want := range map[int]string{8000: "", 16_000: "select fewer elections"} {
		_, err := client(t, s.URL).Events(t.Context(), history.EventQuery{Filter: history.Filter{Names: slices.Repeat([]string{"service/web-0/leader"}, n)}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d names: %v", n, err)
		}
	}
}

// Commands print some words of a response unchanged. A response of another server must not place escape sequences in
// these words.
func TestWordsOfARecorderAreSafeToShow(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"type":"\u001b[2J","cause":"\u001b[2J","action":"\u001b[2J","result":"\u001b[2J"}`)
	}))
	defer s.Close()
	c := client(t, s.URL)
	events, err1 := c.Events(t.Context(), history.EventQuery{})
	terms, err2 := c.Terms(t.Context(), history.TermQuery{})
	actions, err3 := c.Actions(t.Context(), history.Range{})
	must(t, errors.Join(err1, err2, err3))
	words := []string{string(events.Items[0].Type), string(events.Items[0].Cause), string(terms.Items[0].Cause), string(actions[0].Kind), actions[0].Result}
	if want := slices.Repeat([]string{"␛[2J"}, 5); !slices.Equal(words, want) {
		t.Errorf("%q", words)
	}
}
