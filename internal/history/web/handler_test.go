package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/web"
)

// get sends a request. It does not decompress the response.
func get(t *testing.T, url string, change func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "identity")
	if change != nil {
		change(r)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

func TestAccess(t *testing.T) {
	open := serve(t, nil)
	closed := serve(t, func(o *web.Options) { o.Token = "secret" })
	remote := serve(t, func(o *web.Options) { o.Local = false })
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	post := func(body string, change func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(body))
			if change != nil {
				change(r)
			}
		}
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	action := `{"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"}`
	for name, tt := range map[string]struct {
		s      *served
		path   string
		change func(*http.Request)
		code   int
	}{
		"no token":                        {closed, "/v1/events", nil, 401},
		"no token, metrics":               {closed, "/metrics", nil, 401},
		"no token, unknown path":          {closed, "/v1/none", nil, 401},
		"no token, health":                {closed, "/healthz", nil, 200},
		"wrong token":                     {closed, "/v1/events", set("Authorization", "Bearer secre"), 401},
		"longer token":                    {closed, "/v1/events", set("Authorization", "Bearer secret2"), 401},
		"other scheme":                    {closed, "/v1/events", set("Authorization", "Basic secret"), 401},
		"empty token":                     {closed, "/v1/events", set("Authorization", "Bearer "), 401},
		"token":                           {closed, "/v1/events", set("Authorization", "Bearer secret"), 200},
		"token, metrics":                  {closed, "/metrics", set("Authorization", "bearer secret"), 200},
		"a token in the URL":              {closed, "/v1/events?token=secret", nil, 401},
		"any host name, with token":       {closed, "/v1/events", func(r *http.Request) { r.Host = "recorder"; set("Authorization", "Bearer secret")(r) }, 200},
		"loopback":                        {open, "/v1/events", nil, 200},
		"localhost":                       {open, "/v1/events", host("localhost:9273"), 200},
		"IPv6":                            {open, "/v1/events", host("[::1]:9273"), 200},
		"DNS rebinding":                   {open, "/v1/events", host("evil.example:9273"), 403},
		"DNS rebinding, metrics":          {open, "/metrics", host("evil.example"), 403},
		"any host name, over the network": {remote, "/v1/events", host("recorder"), 200},
		"unknown path":                    {open, "/v1/", nil, 404},
		"root":                            {open, "/", nil, 404},
		"above the root":                  {open, "/v1/../../etc/passwd", nil, 307},
		"PUT":                             {open, "/v1/events", func(r *http.Request) { r.Method = http.MethodPut }, 405},
		"DELETE":                          {open, "/v1/actions", func(r *http.Request) { r.Method = http.MethodDelete }, 405},
		"HEAD":                            {open, "/v1/events", func(r *http.Request) { r.Method = http.MethodHead }, 200},
		"action":                          {open, "/v1/actions", post(action, nil), 202},
		"action with token":               {closed, "/v1/actions", post(action, set("Authorization", "Bearer secret")), 202},
		"action without token":            {closed, "/v1/actions", post(action, nil), 401},
		"action over the network":         {remote, "/v1/actions", post(action, nil), 403},
		"action from a web page":          {open, "/v1/actions", post(action, set("Origin", "https://evil.example")), 403},
		"action from another site":        {open, "/v1/actions", post(action, set("Sec-Fetch-Site", "cross-site")), 403},
		"invalid action":                  {open, "/v1/actions", post("{", nil), 400},
		"unknown action":                  {open, "/v1/actions", post(strings.Replace(action, "release", "explode", 1), nil), 400},
		"action without a session":        {open, "/v1/actions", post(strings.Replace(action, `"session":"s"`, `"session":""`, 1), nil), 400},
		"large action":                    {open, "/v1/actions", post(strings.Replace(action, "ana", strings.Repeat("a", 20_000), 1), nil), 413},
		"misspelled parameter":            {open, "/v1/events?sinc=1h", nil, 400},
		"parameter given twice":           {open, "/v1/events?since=1h&since=2h", nil, 400},
		"invalid time":                    {open, "/v1/events?since=noon", nil, 400},
		"negative duration":               {open, "/v1/events?since=-1h", nil, 400},
		"until before since":              {open, "/v1/events?since=1h&until=2h", nil, 400},
		"limit 0":                         {open, "/v1/events?limit=0", nil, 400},
		"large limit":                     {open, "/v1/events?limit=10001", nil, 400},
		"unknown type":                    {open, "/v1/events?type=exploded", nil, 400},
		"unknown cause":                   {open, "/v1/terms?cause=fire", nil, 400},
		"terms with a type":               {open, "/v1/terms?type=elected", nil, 400},
		"invalid cursor":                  {open, "/v1/events?before=x", nil, 400},
		"no such election":                {open, "/v1/terms?name=none", nil, 404},
		"invalid escape":                  {open, "/v1/events?since=%zz", nil, 400},
		"days":                            {open, "/v1/events?since=7d", nil, 200},
		"time without a zone":             {open, "/v1/events?since=2026-11-20T03:00", nil, 200},
		"durations":                       {open, "/v1/events?since=99999h&until=0s", nil, 200},
		"empty parameters":                {open, "/v1/events?since=&limit=", nil, 200},
	} {
		code, h, body := get(t, tt.s.URL+tt.path, tt.change)
		if code != tt.code {
			t.Errorf("%s: %d, want %d: %s", name, code, tt.code, body)
		}
		for _, header := range []string{"Server", "X-Powered-By"} {
			if h.Get(header) != "" {
				t.Errorf("%s: %s", name, h.Get(header))
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(body, "secret") || code >= 500 {
			t.Errorf("%s: %d %v %s", name, code, h, body)
		}
	}
	if n := len(open.recorded()) + len(closed.recorded()) + len(remote.recorded()); n != 2 {
		t.Errorf("%d actions", n)
	}
}

func TestActionsGetTheTimeOfTheRecorder(t *testing.T) {
	s := serve(t, nil)
	want := history.Action{
		Time: start(), By: "ana@bastion", Kind: election.ActionDestroy, Datacenter: "dc1", Key: "k", Session: "s", CreateIndex: 1, Term: 2,
		Leader: "web", Node: "n", Result: history.ResultDone, Detail: "ok",
	}
	before := time.Now()
	if err := client(t, web.ClientOptions{URL: s.URL}).Record(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got := s.recorded()
	if len(got) != 1 || got[0].Time.Before(before) || got[0].Time.After(time.Now()) {
		t.Fatalf("%+v", got)
	}
	if want.Time = got[0].Time; got[0] != want {
		t.Errorf("%+v, want %+v", got[0], want)
	}
}

// An action must contain the session whose hold it ends.
func TestActionsNameWhatTheyChanged(t *testing.T) {
	s := serve(t, nil)
	c := client(t, web.ClientOptions{URL: s.URL})
	for _, tt := range []struct {
		kind         election.ActionKind
		key, session string
		stored       bool
	}{
		{election.ActionRelease, "k", "s", true},
		{election.ActionDestroy, "", "s", true},
		{election.ActionDestroy, "k", "", false},
		{"acquire", "k", "s", false},
	} {
		a := history.Action{By: "ana@bastion", Kind: tt.kind, Datacenter: "dc1", Key: tt.key, Session: tt.session, Result: history.ResultDone}
		if err := c.Record(t.Context(), a); (err == nil) != tt.stored {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestHealth(t *testing.T) {
	s := serve(t, nil)
	if code, h, body := get(t, s.URL+"/healthz", nil); code != 200 || body != "ok\n" || !strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %q", code, body)
	}
	s.mu.Lock()
	s.ill = errors.New("the connection to Consul is lost\nsince \x1b[31mnoon")
	s.mu.Unlock()
	if code, _, body := get(t, s.URL+"/healthz", nil); code != 503 || strings.Count(body, "\n") != 1 || strings.ContainsRune(body, '\x1b') {
		t.Errorf("%d %q", code, body)
	}
}

func TestPagesLinkToTheNext(t *testing.T) {
	s := serve(t, nil)
	for _, first := range []string{
		"/v1/events?limit=7&name=web-0&type=elected&type=vacated&since=2026-01-01T00:00:00Z", "/v1/terms?limit=4&name=web-0",
		"/v1/events?limit=7&name=web-0&after=0.0",
	} {
		_, _, want := get(t, s.URL+strings.Replace(first, "limit=7", "limit=1000", 1), nil)
		if strings.Contains(first, "terms") {
			_, _, want = get(t, s.URL+strings.Replace(first, "limit=4", "limit=1000", 1), nil)
		}
		var lines, pages int
		for next := first; next != ""; pages++ {
			_, h, body := get(t, s.URL+next, nil)
			lines += strings.Count(body, "\n")
			next, _, _ = strings.Cut(strings.TrimPrefix(h.Get("Link"), "<"), ">")
		}
		if lines != strings.Count(want, "\n") || pages < 3 {
			t.Errorf("%s: %d lines on %d pages, want %d lines", first, lines, pages, strings.Count(want, "\n"))
		}
	}
}

func TestCompression(t *testing.T) {
	s := serve(t, nil)
	_, _, plain := get(t, s.URL+"/v1/events", nil)
	for accept, compressed := range map[string]bool{
		"gzip": true, "deflate, gzip;q=0.5": true, "*": true, "": false, "gzip;q=0": false, "identity": false, "gzip;q=x": false,
	} {
		_, h, body := get(t, s.URL+"/v1/events", func(r *http.Request) { r.Header.Set("Accept-Encoding", accept) })
		if (h.Get("Content-Encoding") == "gzip") != compressed || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v", accept, h)
		}
		if compressed {
			z, err := gzip.NewReader(bytes.NewReader([]byte(body)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(z)
			if body = string(text); err != nil {
				t.Fatal(err)
			}
		}
		if body != plain {
			t.Errorf("%q: another body", accept)
		}
	}
	if _, h, _ := get(t, s.URL+"/v1/actions", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") }); h.Get("Content-Encoding") != "" {
		t.Error("a short response was compressed")
	}
}

func TestErrorsOfTheFileStayOnTheRecorder(t *testing.T) {
	s := serve(t, nil)
	s.file.Close()
	for _, path := range []string{"/v1/events", "/v1/terms", "/v1/stats", "/v1/state", "/v1/observations", "/v1/actions", "/v1/elections"} {
		code, _, body := get(t, s.URL+path, nil)
		if code != 500 || strings.Contains(body, "h.db") || strings.Contains(body, "sql") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if s.mu.Lock(); len(s.errors) != 7 {
		t.Errorf("%v", s.errors)
	}
	s.mu.Unlock()
	_, err := client(t, web.ClientOptions{URL: s.URL}).Stats(t.Context(), history.Filter{})
	if u, _ := url.Parse(s.URL); err == nil || err.Error() != "history at http://"+u.Host+": the recorder failed (HTTP 500); see its log" {
		t.Error(err)
	}
}

func TestRequestsAtTheSameTimeAreLimited(t *testing.T) {
	source := slow{begun: make(chan bool, 100), end: make(chan bool)}
	s := serve(t, func(o *web.Options) { o.Source = source })
	ended := make(chan error, 8)
	for range 8 {
		go func() {
			_, err := client(t, web.ClientOptions{URL: s.URL}).Elections(t.Context())
			ended <- err
		}()
	}
	for range 8 {
		<-source.begun
	}
	if code, h, _ := get(t, s.URL+"/v1/elections", nil); code != 503 || h.Get("Retry-After") == "" {
		t.Errorf("%d %v", code, h)
	}
	if code, _, _ := get(t, s.URL+"/healthz", nil); code != 200 {
		t.Error(code)
	}
	close(source.end)
	for range 8 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Clients that do not read their responses must not block other clients.
func TestClientsThatDoNotRead(t *testing.T) {
	s := serve(t, func(o *web.Options) { o.Source = many{o.Source} })
	for range 12 {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /v1/observations HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil { // the server has begun to send
			t.Fatal(err)
		}
	}
	if response, err := http.Get(s.URL + "/v1/elections"); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%v %v", response, err)
	} else {
		response.Body.Close()
	}
}

// many is a source with more observations than the buffers of a connection hold.
type many struct{ web.Source }

func (many) Observations(context.Context, history.Range) ([]history.Observation, error) {
	return make([]history.Observation, 100_000), nil
}
