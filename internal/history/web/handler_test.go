package web_test

import (
	"context"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/web"
)

// get sends a request.
func get(t *testing.T, url string, change func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
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
		"no token, unknown path":          {closed, "/v1/none", nil, 401},
		"no token, health":                {closed, "/healthz", nil, 200},
		"wrong token":                     {closed, "/v1/events", set("Authorization", "Bearer secre"), 401},
		"longer token":                    {closed, "/v1/events", set("Authorization", "Bearer secret2"), 401},
		"other scheme":                    {closed, "/v1/events", set("Authorization", "Basic secret"), 401},
		"token":                           {closed, "/v1/events", set("Authorization", "Bearer secret"), 200},
		"token, metrics":                  {closed, "/metrics", set("Authorization", "bearer secret"), 200},
		"a token in the URL":              {closed, "/v1/events?token=secret", nil, 401},
		"any host name, with token":       {closed, "/v1/events", func(r *http.Request) { r.Host = "recorder"; set("Authorization", "Bearer secret")(r) }, 200},
		"loopback":                        {open, "/v1/events", nil, 200},
		"localhost":                       {open, "/v1/events", host("localhost:9273"), 200},
		"DNS rebinding":                   {open, "/v1/events", host("evil.example:9273"), 403},
		"any host name, over the network": {remote, "/v1/events", host("recorder"), 200},
		"unknown path":                    {open, "/v1/", nil, 404},
		"above the root":                  {open, "/v1/../../etc/passwd", nil, 307},
		"DELETE":                          {open, "/v1/actions", func(r *http.Request) { r.Method = http.MethodDelete }, 404},
		"HEAD":                            {open, "/v1/events", func(r *http.Request) { r.Method = http.MethodHead }, 200},
		"action":                          {open, "/v1/actions", post(action, nil), 202},
		"action with token":               {closed, "/v1/actions", post(action, set("Authorization", "Bearer secret")), 202},
		"action without token":            {closed, "/v1/actions", post(action, nil), 401},
		"action over the network":         {remote, "/v1/actions", post(action, nil), 403},
		"action from a web page":          {open, "/v1/actions", post(action, set("Origin", "https://evil.example")), 403},
		"action from another site":        {open, "/v1/actions", post(action, set("Sec-Fetch-Site", "cross-site")), 403},
		"invalid action":                  {open, "/v1/actions", post("{", nil), 400},
		"unknown action":                  {open, "/v1/actions", post(strings.Replace(action, "release", "explode", 1), nil), 400},
		"action without a key":            {open, "/v1/actions", post(strings.Replace(action, `"key":"k",`, "", 1), nil), 202},
		"action without a session":        {open, "/v1/actions", post(strings.Replace(action, `"session":"s"`, `"session":""`, 1), nil), 400},
		"large action":                    {open, "/v1/actions", post(strings.Replace(action, "ana", strings.Repeat("a", 20_000), 1), nil), 413},
		"misspelled parameter":            {open, "/v1/events?sinc=1h", nil, 400},
		"parameter given twice":           {open, "/v1/events?since=1h&since=2h", nil, 400},
		"invalid time":                    {open, "/v1/events?since=noon", nil, 400},
		"until before since":              {open, "/v1/events?since=1h&until=2h", nil, 400},
		"limit 0":                         {open, "/v1/events?limit=0", nil, 400},
		"large limit":                     {open, "/v1/events?limit=10001", nil, 400},
		"unknown type":                    {open, "/v1/events?type=exploded", nil, 400},
		"unknown cause":                   {open, "/v1/terms?cause=fire", nil, 400},
		"terms with a type":               {open, "/v1/terms?type=elected", nil, 400},
		"invalid cursor":                  {open, "/v1/events?page=x", nil, 400},
		"no such election":                {open, "/v1/terms?name=none", nil, 404},
		"invalid escape":                  {open, "/v1/events?since=%zz", nil, 400},
		"time without a zone":             {open, "/v1/events?since=2026-11-20T03:00", nil, 200},
		"durations":                       {open, "/v1/events?since=99999h&until=0s", nil, 200},
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
		if h.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(body, "secret") || code >= 500 ||
			code == 404 && h.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v %s", name, code, h, body)
		}
	}
	if _, _, body := get(t, open.URL+"/v1/state?at=0001-01-01T00:00:00Z", nil); !strings.Contains(body, `"elections":[]`) {
		t.Error("the state before all observations:", body)
	}
	if n := len(open.actions) + len(closed.actions) + len(remote.actions); n != 3 {
		t.Errorf("%d actions", n)
	}
}

func TestActionsGetTheTimeOfTheRecorder(t *testing.T) {
	s := serve(t, nil)
	want := history.Action{
		Time: at(0), By: "ana@bastion", Kind: election.ActionDestroy, Datacenter: "dc1", Key: "k", Session: "s", CreateIndex: 1, Term: 2,
		Leader: "web", Node: "n", Result: history.ResultDone, Detail: "ok",
	}
	before := time.Now()
	if err := client(t, s.URL).Record(t.Context(), want); err != nil || len(s.actions) != 1 {
		t.Fatalf("%v %+v", err, s.actions)
	}
	got := s.actions[0]
	if want.Time = got.Time; got != want || got.Time.Before(before) || got.Time.After(time.Now()) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A local user who sends many actions must not slow down the recorder.
func TestActionsAreLimited(t *testing.T) {
	s := serve(t, nil)
	c := client(t, s.URL)
	a := history.Action{By: "eve@vm", Kind: election.ActionDestroy, Datacenter: "dc1", Session: "s", Result: history.ResultDone}
	for range 2000 {
		if err := c.Record(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Record(t.Context(), a); err == nil || !strings.Contains(err.Error(), "503") || len(s.actions) != 2000 {
		t.Errorf("%v, %d stored", err, len(s.actions))
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
	for _, path := range []string{
		"/v1/events?name=web-0&type=elected&type=vacated&since=2026-01-01T00:00:00Z", "/v1/terms?name=web-0", "/v1/events?name=web-0&page=n0.0", "/v1/events?name=web-0&page=s0.0",
	} {
		_, _, want := get(t, s.URL+path+"&limit=1000", nil)
		var lines, pages int
		for next := path + "&limit=7"; next != ""; pages++ {
			_, h, body := get(t, s.URL+next, nil)
			lines += strings.Count(body, "\n")
			next, _, _ = strings.Cut(strings.TrimPrefix(h.Get("Link"), "<"), ">")
		}
		if lines != strings.Count(want, "\n") || pages < 3 || strings.Contains(want, "\u202e") {
			t.Errorf("%s: %d lines on %d pages, want %d safe lines", path, lines, pages, strings.Count(want, "\n"))
		}
	}
}

func TestErrorsOfTheFileStayOnTheRecorder(t *testing.T) {
	s := serve(t, nil)
	s.file.Close()
	for _, path := range []string{"/v1/events", "/v1/terms", "/v1/stats", "/v1/state", "/v1/observations", "/v1/actions", "/v1/elections"} {
		if code, _, body := get(t, s.URL+path, nil); code != 500 || strings.Contains(body, "h.db") || strings.Contains(body, "sql") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if len(s.errors) != 7 {
		t.Errorf("%v", s.errors)
	}
	if _, err := client(t, s.URL).Stats(t.Context(), history.Filter{}); err == nil || err.Error() != "history at "+s.URL+": the recorder failed; see its log (HTTP 500)" {
		t.Error(err)
	}
}

// A list without pages has a limit, so that one request cannot use up the memory of the recorder.
func TestListsAreLimited(t *testing.T) {
	s := serve(t, nil)
	db, err := sql.Open("sqlite", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, columns := range map[string]string{
		"observations": "observer, datacenter, patterns, started, seen",
		"actions":      "time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail",
	} { // the table has one row
		_, err := db.ExecContext(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO "+table+
			" ("+columns+") SELECT "+columns+" FROM n, (SELECT * FROM "+table+" LIMIT 1)")
		if err != nil {
			t.Fatal(err)
		}
		if code, _, body := get(t, s.URL+"/v1/"+table, nil); code != 400 || !strings.Contains(body, `"error":"too many entries`) {
			t.Errorf("%s: %d %.100s", table, code, body)
		}
	}
	if _, err := client(t, s.URL).Actions(t.Context(), history.Range{}); !errors.Is(err, history.ErrLarge) {
		t.Error(err)
	}
}

func TestRequestsAtTheSameTimeAreLimited(t *testing.T) {
	begun, end := make(chan bool, 100), make(chan bool)
	s := serve(t, func(o *web.Options) {
		o.Source = fake{elections: func() []history.Election { begun <- true; <-end; return nil }}
	})
	ended := make(chan error, 8)
	for range 8 {
		go func() {
			_, err := client(t, s.URL).Elections(t.Context())
			ended <- err
		}()
	}
	for range 8 {
		<-begun
	}
	if code, h, _ := get(t, s.URL+"/v1/elections", nil); code != 503 || h.Get("Retry-After") == "" {
		t.Errorf("%d %v", code, h)
	}
	if code, _, _ := get(t, s.URL+"/healthz", nil); code != 200 {
		t.Error(code)
	}
	close(end)
	for range 8 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Clients that do not read their responses must not block other clients.
func TestClientsThatDoNotRead(t *testing.T) {
	s := serve(t, func(o *web.Options) { // more than the buffers of a connection hold
		o.Source = fake{observations: make([]history.Observation, 50_000), elections: func() []history.Election { return nil }}
	})
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
	if code, _, body := get(t, s.URL+"/v1/elections", nil); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
}

// listening serves a source until stop is called.
func listening(t *testing.T, certFile, keyFile string, source history.Source) (url string, stop func() error) {
	t.Helper()
	l, err := web.Listen(t.Context(), "127.0.0.1:0", certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	handler := web.NewHandler(web.Options{Source: source, Local: true, Metrics: http.NotFoundHandler()})
	go func() { ended <- web.Serve(ctx, l, handler, log.New(io.Discard, "", 0)) }()
	t.Cleanup(cancel)
	scheme := "https://"
	if certFile == "" {
		scheme = "http://"
	}
	return scheme + l.Addr().String(), func() error { cancel(); return <-ended }
}

func TestTLSWithACertificateThatIsRenewed(t *testing.T) {
	server := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	write := func(cert []byte) {
		for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
			if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(server.Certificate().Raw)
	source := fake{elections: func() []history.Election { return nil }}
	url, stop := listening(t, certFile, keyFile, source)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	read := func(url string, pool *x509.CertPool, want string) {
		t.Helper()
		_, err := clientOf(t, web.ClientOptions{URL: url, CAs: pool}).Elections(t.Context())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	read(url, pool, "")
	read(url, nil, "unknown authority; --history-ca-file selects the CA")
	read(strings.Replace(url, "127.0.0.1", "localhost", 1), pool, "is valid for example.com, *.example.com, not localhost")
	read("http"+strings.TrimPrefix(url, "https"), nil, "use https://")
	write(nil)
	read(url, pool, "history at ") // each handshake reads the files
	write(server.Certificate().Raw)
	read(url, pool, "")
	plain, stopPlain := listening(t, "", "", source)
	read("https"+strings.TrimPrefix(plain, "http"), nil, "does not use TLS")
	if err := errors.Join(stop(), stopPlain()); err != nil {
		t.Error(err)
	}
	if _, err := web.Listen(t.Context(), "127.0.0.1:0", keyFile, certFile); err == nil {
		t.Error("no error")
	}
}

func TestRequestsInProgressFinishAtTheEnd(t *testing.T) {
	begun, end := make(chan bool, 1), make(chan bool)
	url, stop := listening(t, "", "", fake{elections: func() []history.Election { begun <- true; <-end; return nil }})
	read, stopped := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := client(t, url).Elections(t.Context())
		read <- err
	}()
	<-begun
	go func() { stopped <- stop() }()
	close(end)
	if err := errors.Join(<-read, <-stopped); err != nil {
		t.Error(err)
	}
}
