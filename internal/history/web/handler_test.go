package web_test

import (
	"context"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
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
	must(t, err)
	if change != nil {
		change(r)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	must(t, err)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, response.Header, string(body)
}

// requests are the status of the response, the recorder, the method, the path, and after a bar each a header or a body.
// LONG is a long text.
const requests = `
401 closed GET /v1/events
401 closed GET /v1/none
200 closed GET /healthz
401 closed GET /v1/events | Authorization: Bearer secre
401 closed GET /v1/events | Authorization: Bearer secret2
401 closed GET /v1/events | Authorization: Basic secret
200 closed GET /v1/events | Authorization: Bearer secret
200 closed GET /metrics | Authorization: bearer secret
401 closed GET /v1/events?token=secret
200 closed GET /v1/events | Authorization: Bearer secret | Host: recorder
200 open GET /v1/events
200 open GET /v1/events | Host: localhost:9273
403 open GET /v1/events | Host: evil.example:9273
200 remote GET /v1/events | Host: recorder
404 open GET /v1/
307 open GET /v1/../../etc/passwd
404 open DELETE /v1/actions
200 open HEAD /v1/events
202 open POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"}
202 closed POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"} | Authorization: Bearer secret
401 closed POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"}
403 remote POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"}
403 open POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"} | Origin: https://evil.example
403 open POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"} | Sec-Fetch-Site: cross-site
400 open POST /v1/actions | {
400 open POST /v1/actions | {"by":"ana@bastion","action":"explode","datacenter":"dc1","key":"k","session":"s","result":"done"}
202 open POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","session":"s","result":"done"}
400 open POST /v1/actions | {"by":"ana@bastion","action":"release","datacenter":"dc1","key":"k","session":"","result":"done"}
413 open POST /v1/actions | {"by":"LONG","action":"release","datacenter":"dc1","key":"k","session":"s","result":"done"}
400 open GET /v1/events?sinc=1h
400 open GET /v1/events?since=1h&since=2h
400 open GET /v1/events?since=noon
400 open GET /v1/events?since=1h&until=2h
400 open GET /v1/events?limit=0
400 open GET /v1/events?limit=10001
400 open GET /v1/events?type=exploded
400 open GET /v1/terms?cause=fire
400 open GET /v1/terms?type=elected
400 open GET /v1/events?page=x
404 open GET /v1/terms?name=none
400 open GET /v1/events?since=%zz
200 open GET /v1/events?since=2026-11-20T03:00
200 open GET /v1/events?since=99999h&until=0s
`

func TestAccess(t *testing.T) {
	recorders := map[string]*served{
		"open": serve(t, nil), "closed": serve(t, func(o *web.Options) { o.Token = "secret" }), "remote": serve(t, func(o *web.Options) { o.Local = false }),
	}
	for line := range strings.Lines(strings.TrimPrefix(requests, "\n")) {
		parts := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), "LONG", strings.Repeat("a", 20_000)), " | ")
		words := strings.Fields(parts[0])
		code, h, body := get(t, recorders[words[1]].URL+words[3], func(r *http.Request) {
			r.Method = words[2]
			for _, part := range parts[1:] {
				name, value, header := strings.Cut(part, ": ")
				switch {
				case !header:
					r.Body = io.NopCloser(strings.NewReader(part))
				case name == "Host":
					r.Host = value
				default:
					r.Header.Set(name, value)
				}
			}
		})
		if fmt.Sprint(code) != words[0] || h.Get("Server")+h.Get("X-Powered-By") != "" || h.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(body, "secret") ||
			code == 404 && h.Get("Content-Type") != "application/json" {
			t.Errorf("%.200s: %d %v %s", line, code, h, body)
		}
	}
	if _, _, body := get(t, recorders["open"].URL+"/v1/state?at=0001-01-01T00:00:00Z", nil); !strings.Contains(body, `"elections":[]`) {
		t.Error("the state before all observations:", body)
	}
	if open, closed := len(recorders["open"].actions), len(recorders["closed"].actions); open != 2 || closed != 1 {
		t.Errorf("%d and %d actions", open, closed)
	}
}

func TestActionsGetTheTimeOfTheRecorder(t *testing.T) {
	s := serve(t, nil)
	want := history.Action{
		Time: at(0), By: "ana@bastion", Kind: election.ActionDestroy, Datacenter: "dc1", Key: "k", Session: "s", CreateIndex: 1, Term: 2,
		Leader: "web", Node: "n", Result: history.ResultDone, Detail: "ok",
	}
	before := time.Now()
	acted := before.Add(-time.Hour)
	r, err := http.Post(s.URL+"/v1/actions?age=1h", "", strings.NewReader(
		`{"time":"2000-01-01T00:00:00Z","by":"ana@bastion","action":"destroy","datacenter":"dc1","key":"k","session":"s","create_index":1,"term":2,"leader":"web","node":"n","result":"done","detail":"ok"}`)) // of another clock
	must(t, err)
	must(t, r.Body.Close())
	want.Time = acted
	must(t, client(t, s.URL).Record(t.Context(), want))
	for _, got := range s.actions[:2] {
		late := got.Time.Sub(acted)
		if want.Time = got.Time; got != want || late < 0 || late > time.Since(before) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// A local user who sends many actions must not slow down the recorder.
func TestActionsAreLimited(t *testing.T) {
	s := serve(t, nil)
	c := client(t, s.URL)
	a := history.Action{By: "eve@vm", Kind: election.ActionDestroy, Datacenter: "dc1", Session: "s", Result: history.ResultDone}
	for range 2000 {
		must(t, c.Record(t.Context(), a))
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
	must(t, err)
	defer db.Close()
	for table, columns := range map[string]string{
		"observations": "observer, datacenter, patterns, started, seen",
		"actions":      "time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail",
	} { // the table has one row
		_, err := db.ExecContext(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO "+table+
			" ("+columns+") SELECT "+columns+" FROM n, (SELECT * FROM "+table+" LIMIT 1)")
		must(t, err)
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
		must(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "GET /v1/observations HTTP/1.1\r\nHost: localhost\r\n\r\n")
		must(t, err)
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
	must(t, err)
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
	must(t, err)
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	write := func(cert []byte) {
		for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
			must(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
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
	read(url, nil, "unknown authority; --history-ca-file selects the CA, whose")
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
