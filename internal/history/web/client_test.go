package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

var _ web.Source = (*web.Client)(nil)

// same compares the results from the file with those from the recorder.
func same[Q, T any](t *testing.T, name string, file, remote func(context.Context, Q) (T, error), q Q) T {
	t.Helper()
	want, err := file(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, err := remote(t.Context(), q)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v\n%+v, want\n%+v", name, err, got, want)
	}
	return got
}

func TestARecorderGivesWhatItsFileGives(t *testing.T) {
	s := serve(t, nil)
	c := client(t, web.ClientOptions{URL: s.URL + "/"})
	at := func(n int) time.Time { return start().Add(time.Duration(n) * second) }
	some := history.Filter{Range: history.Range{Since: at(10), Until: at(40)}, Names: []string{"web-0", "service/web-1/leader"}}
	for name, q := range map[string]history.EventQuery{
		"all": {Limit: 1000}, "default": {}, "some": {Filter: some, Limit: 1000}, "a few": {Limit: 3},
		"types":  {Types: []election.EventType{election.Vacated, election.Missed}, Limit: 1000},
		"causes": {Causes: []election.Cause{election.Unknown}, Limit: 5},
		"after":  {After: history.CursorAt(at(20)), Limit: 5}, "before": {Before: history.CursorAt(at(20)), Limit: 5},
		"none": {Types: []election.EventType{election.ConnectionLost}},
	} {
		same(t, "events, "+name, s.file.Events, c.Events, q)
	}
	for name, q := range map[string]history.TermQuery{
		"all": {Limit: 1000}, "some": {Filter: some, Limit: 4}, "causes": {Causes: []election.Cause{election.Released}},
		"before": {Before: history.CursorAt(at(20)), Limit: 5}, "after": {After: history.CursorAt(at(20)), Limit: 5},
		"from the oldest": {Filter: some, After: history.CursorAt(time.Time{}), Limit: 2},
	} {
		same(t, "terms, "+name, s.file.Terms, c.Terms, q)
	}
	for name, f := range map[string]history.Filter{"all": {}, "some": some} {
		same(t, "stats, "+name, s.file.Stats, c.Stats, f)
	}
	for _, n := range []int{0, 1, 17, 18, 59, 1000} {
		st := same(t, fmt.Sprint("state ", n), s.file.State, c.State, history.StateQuery{At: at(n)})
		if len(st.Elections) != 4 {
			t.Errorf("%d elections", len(st.Elections))
		}
	}
	if all := same(t, "observations", s.file.Observations, c.Observations, history.Range{}); len(all) != 1 {
		t.Errorf("observations %+v", all)
	}
	if all := same(t, "actions", s.file.Actions, c.Actions, history.Range{}); len(all) != 1 {
		t.Errorf("actions %+v", all)
	}
	elections := func(read func(context.Context) ([]history.Election, error)) func(context.Context, bool) ([]history.Election, error) {
		return func(ctx context.Context, _ bool) ([]history.Election, error) { return read(ctx) }
	}
	same(t, "elections", elections(s.file.Elections), elections(c.Elections), true)
	if _, err := c.Events(t.Context(), history.EventQuery{Filter: history.Filter{Names: []string{"none"}}}); !errors.Is(err, history.ErrNoElection) {
		t.Errorf("%v", err)
	}
	if _, err := c.Events(t.Context(), history.EventQuery{Before: "x"}); !errors.Is(err, history.ErrCursor) {
		t.Errorf("%v", err)
	}
	if len(s.errors) > 0 {
		t.Errorf("%v", s.errors)
	}
}

func TestPagesOfARecorderJoin(t *testing.T) {
	s := serve(t, nil)
	c := client(t, web.ClientOptions{URL: s.URL})
	all, err := s.file.Events(t.Context(), history.EventQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var older, newer []election.Event
	for q := (history.EventQuery{Limit: 7}); ; {
		page, err := c.Events(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		older, q.Before = append(older, page.Events...), page.Older
		if !page.More {
			break
		}
	}
	for q := (history.EventQuery{Limit: 7, After: history.CursorAt(start())}); ; {
		page, err := c.Events(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		newer, q.After = append(slices.Clone(page.Events), newer...), page.Newer
		if !page.More {
			break
		}
	}
	if !slices.Equal(older, all.Events) || !slices.Equal(newer, all.Events) {
		t.Errorf("%d and %d events, want %d", len(older), len(newer), len(all.Events))
	}
}

// The stored events have all fields that the JSON of an event can contain.
func TestEventsKeepAllFields(t *testing.T) {
	at := start()
	events := []election.Event{
		{
			Time: at, Type: election.Vacated, Election: "web", Key: "service/web/leader", Datacenter: "dc1", Term: 1 << 60, CreateIndex: 2, ModifyIndex: 3,
			Leader: "a\u202eb", Session: "s", Node: "n", Held: 12345, HeldKnown: true, SeenUntil: at.Add(-1), Gap: true, Restored: true,
		},
		{Time: at.Add(1), Type: election.Elected, Key: "k", Vacancy: 1, VacancyKnown: true, Initial: true},
		{Time: at.Add(2), Type: election.Elected, Key: "k", VacancyKnown: true},
		{Time: at.Add(3), Type: election.Explained, Key: "k", Cause: election.CheckCritical, Guess: true, Evidence: "e", LockDelayUntil: at.Add(7)},
		{Time: at.Add(4), Type: election.Unreadable, Prefix: "p/", Count: 9},
		{Time: at.Add(5), Type: election.Entered, Key: "k", Leader: "holder", Session: "s", Holders: 0, Limit: 3},
		{Time: at.Add(6), Type: election.ConnectionLost, Error: "refused"},
	}
	page := history.EventPage{Events: events, Older: "1.1", Newer: "9.9"}
	s := httptest.NewServer(web.NewHandler(web.Options{Source: fixed{page: page}, Local: true, Metrics: http.NotFoundHandler()}))
	defer s.Close()
	got, err := client(t, web.ClientOptions{URL: s.URL}).Events(t.Context(), history.EventQuery{})
	if err != nil || !reflect.DeepEqual(got, page) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, page)
	}
	_, _, body := get(t, s.URL+"/v1/events", nil)
	for i, line := range strings.Split(strings.TrimSpace(body), "\n") {
		var wire, printed map[string]any
		text, _ := json.Marshal(events[i])
		if json.Unmarshal([]byte(line), &wire) != nil || json.Unmarshal(text, &printed) != nil {
			t.Fatal(line)
		}
		for name, want := range printed {
			if !reflect.DeepEqual(wire[name], want) {
				t.Errorf("%s: %v, watch prints %v", name, wire[name], want)
			}
		}
	}
	if strings.Contains(body, "\u202e") {
		t.Error("the response contains an unsanitized bidirectional control character")
	}
}

// fixed is a source that returns one page.
type fixed struct {
	web.Source
	page history.EventPage
}

func (f fixed) Events(context.Context, history.EventQuery) (history.EventPage, error) {
	return f.page, nil
}

func TestURLsOfRecorders(t *testing.T) {
	for url, valid := range map[string]bool{
		"https://recorder:9273": true, "http://127.0.0.1:9273": true, "https://recorder/electop/": true, "http://[::1]:9": true,
		"ftp://recorder": false, "https://": false, "https://ana:secret@recorder": false, "https://recorder?token=x": false,
		"https://recorder#x": false, "https://re corder": false, "://x": false,
	} {
		err := web.CheckURL(url)
		if (err == nil) != valid {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
	for url, exposed := range map[string]bool{
		"https://recorder": false, "http://recorder": true, "http://localhost:1": false, "http://127.0.0.2:1": false, "http://[::1]:1": false,
		"/var/lib/h.db": false, "http://127.0.0.1.example.com": true,
	} {
		if web.Exposed(url) != exposed {
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
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
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
	redirect := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/?"+url.QueryEscape(r.Header.Get("Authorization")), code)
		}
	}
	handlers := []http.HandlerFunc{
		body(200, ""), body(400, ""), body(401, ""), body(403, ""), body(404, ""), body(500, ""), body(503, ""), body(200, "Link"), body(500, "Content-Encoding"),
		redirect(301), redirect(302), redirect(307), redirect(308),
		raw("HTTP/1.1 200 %s\r\n\r\nx"), raw("HTTP/1.1 %s\r\n\r\n"), raw("%s\r\n"), raw("HTTP/1.1 200 OK\r\n%s\r\n\r\n"),
		raw("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"), raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"), raw(""),
	}
	leaks := []string{theToken, url.QueryEscape(theToken), url.PathEscape(theToken), strconv.Quote(theToken), "0b5c2f0e"}
	for i, h := range handlers {
		s := httptest.NewServer(h)
		c := client(t, web.ClientOptions{URL: s.URL, Token: theToken})
		_, err1 := c.Events(t.Context(), history.EventQuery{})
		_, err2 := c.Stats(t.Context(), history.Filter{})
		err3 := c.Record(t.Context(), history.Action{})
		for _, err := range []error{err1, err2, err3} {
			switch {
			case err == nil && err3 == nil && (i == 0 || i == 7 || i == 13 || i == 18): // Record accepts any successful response
			case err == nil:
				t.Errorf("%d: no error", i)
			case strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "history at "+s.URL+": "):
				t.Errorf("response %d: got no error: %q", i, err)
			case slices.ContainsFunc(leaks, func(leak string) bool { return strings.Contains(err.Error(), leak) }):
				t.Errorf("response %d: the error contains the token: %q", i, err)
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
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = client(t, web.ClientOptions{URL: "http://" + l.Addr().String()}).Stats(t.Context(), history.Filter{})
	if want := "history at http://" + l.Addr().String() + ": connection refused"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err = client(t, web.ClientOptions{URL: silent.URL}).Stats(ctx, history.Filter{}); err == nil || !strings.HasSuffix(err.Error(), ": request timed out") {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err = client(t, web.ClientOptions{URL: silent.URL}).Stats(ctx, history.Filter{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLargeResponsesAreNotRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	if _, err := client(t, web.ClientOptions{URL: s.URL}).Actions(t.Context(), history.Range{}); err == nil || !strings.Contains(err.Error(), "larger than 128 MB") {
		t.Error(err)
	}
}

func TestTooManyNamesAreNotSent(t *testing.T) {
	s := httptest.NewServer(web.NewHandler(web.Options{Source: fixed{}, Local: true, Metrics: http.NotFoundHandler()}))
	defer s.Close()
	c := client(t, web.ClientOptions{URL: s.URL})
	q := history.EventQuery{Filter: history.Filter{Names: slices.Repeat([]string{"service/web-0/leader"}, 8000)}}
	if _, err := c.Events(t.Context(), q); err != nil {
		t.Error(err)
	}
	q.Names = slices.Repeat(q.Names, 2)
	if _, err := c.Events(t.Context(), q); err == nil || !strings.Contains(err.Error(), "select fewer elections") {
		t.Error(err)
	}
}

// Commands print some words of a response unchanged. A response of another server must not place escape sequences in
// these words.
func TestWordsOfARecorderAreSafeToShow(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"type":"\u001b[2J","cause":"\u001b[2J","action":"\u001b[2J","result":"\u001b[2J"}`)
	}))
	defer s.Close()
	c := client(t, web.ClientOptions{URL: s.URL})
	events, err := c.Events(t.Context(), history.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	terms, err := c.Terms(t.Context(), history.TermQuery{})
	if err != nil {
		t.Fatal(err)
	}
	actions, err := c.Actions(t.Context(), history.Range{})
	if err != nil {
		t.Fatal(err)
	}
	a := actions[0]
	words := []string{string(events.Events[0].Type), string(events.Events[0].Cause), string(terms.Terms[0].Cause), string(a.Kind), a.Result}
	if want := slices.Repeat([]string{"␛[2J"}, 5); !slices.Equal(words, want) {
		t.Errorf("%q", words)
	}
}
