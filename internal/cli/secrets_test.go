package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
)

const (
	theToken    = `0b5c2f0e-1111-"2222<3333&444455556666`
	thePassword = `hunter-2/"two"`
)

// leaks returns the encodings of the secrets that no output may contain.
func leaks() []string {
	var all []string
	for _, secret := range []string{theToken, thePassword} {
		quoted, _ := json.Marshal(secret)
		all = append(all, secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`),
			strings.Trim(strconv.Quote(secret), `"`), strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")[:20-len(secret)%3])
	}
	return append(all, base64.StdEncoding.EncodeToString([]byte("me:"+thePassword)))
}

// reflection is a server that returns parts of the request.
type reflection struct {
	name   string
	handle func(w http.ResponseWriter, r *http.Request)
}

// echoed joins all secrets of a request.
func echoed(r *http.Request) string {
	token := r.Header.Get("X-Consul-Token")
	quoted, _ := json.Marshal(token)
	_, password, _ := r.BasicAuth()
	return strings.Join([]string{
		token, url.QueryEscape(token), string(quoted), strconv.Quote(token), base64.StdEncoding.EncodeToString([]byte(token)),
		r.Header.Get("Authorization"), password, url.PathEscape(password),
	}, " ")
}

func reflections(other string) []reflection {
	body := func(code int, before string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, before+echoed(r))
		}
	}
	quoted := func(shape string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			text, _ := json.Marshal(r.Header.Get("X-Consul-Token"))
			_, _ = io.WriteString(w, strings.ReplaceAll(shape, "$", string(text)))
		}
	}
	redirect := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/?"+url.QueryEscape(echoed(r)), code)
		}
	}
	return []reflection{
		{"500", body(500, "")},
		{"500 of Raft", body(500, "rpc error making call: ")},
		{"403", body(403, "Permission denied: ")},
		{"400", body(400, "")},
		{"429", body(429, "")},
		{"a body that is not JSON", body(200, "")},
		{"a JSON string", quoted(`$`)},
		{"JSON of another shape", quoted(`{$:[$]}`)},
		{"an invalid duration", quoted(`[{"ID":"x","TTL":$,"LockDelay":$,"Checks":$}]`)},
		{"an invalid flag", quoted(`[{"Key":"service/web/leader","Flags":$,"Value":"dg=="}]`)},
		{"a value that is not base64", quoted(`[{"Key":"service/web/leader","Value":$}]`)},
		{"301", redirect(301)},
		{"302", redirect(302)},
		{"307", redirect(307)},
		{"308", redirect(308)},
		{"headers", func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"X-Consul-Index", "X-Consul-Default-Acl-Policy", "X-Consul-Lastcontact", "Content-Type"} {
				w.Header().Set(name, r.Header.Get("X-Consul-Token"))
			}
			w.WriteHeader(http.StatusInternalServerError)
		}},
		{"an invalid index", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Consul-Index", r.Header.Get("X-Consul-Token"))
			_, _ = io.WriteString(w, "[]")
		}},
		{"a status line", rawAnswer("HTTP/1.1 500 %s\r\n\r\n")},
		{"an invalid status", rawAnswer("HTTP/1.1 %s\r\n\r\n")},
		{"no HTTP", rawAnswer("%s\r\n")},
		{"an invalid header", rawAnswer("HTTP/1.1 200 OK\r\n%s\r\n\r\n")},
		{"an invalid length", rawAnswer("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n")},
		{"an invalid chunk", rawAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n")},
	}
}

// rawAnswer writes bytes that may not be HTTP.
func rawAnswer(format string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, format, r.Header.Get("X-Consul-Token"))
	}
}

// everyCommand lists the command lines that connect to Consul.
func everyCommand(session string) [][]string {
	return [][]string{
		{"list"},
		{"list", "-o", "json"},
		{"show", "web"},
		{"show", "web", "--probe", "-o", "json"},
		{"release", "web", "--yes"},
		{"release", "web"},
		{"release", "web", "--yes", "--wait", "10ms"},
		{"destroy", "web", "--yes"},
		{"destroy", "web", "--yes", "--wait", "10ms"},
		{"destroy", "--session", session, "--yes"},
		{"campaign", "cron", "--", "true"},
		{"doctor"},
		{"doctor", "-o", "json"},
		{"watch"},
		{"watch", "-o", "json"},
		{"record"},
		{"wait", "web", "--led", "--timeout", "10ms"},
		{"drain", "node-1", "--yes", "--wait", "10ms", "--rounds", "1"},
		{"drain", "node-1", "--dry-run", "-o", "json"},
		{"drill", "web", "-n", "1", "--yes", "--wait", "10ms"},
		{"rescue", "--yes"},
		{"rescue", "--dry-run", "-o", "json"},
		{"discover"},
		{"discover", "-o", "json"},
		{cobra.ShellCompRequestCmd, "show", ""},
		{cobra.ShellCompRequestCmd, "drain", ""},
	}
}

func TestTheListOfCommandsIsComplete(t *testing.T) {
	for _, cmd := range allCommands()[1:] {
		name := path(cmd)[0]
		listed := slices.ContainsFunc(everyCommand(""), func(args []string) bool { return args[0] == name })
		if !listed && !slices.Contains(withoutConsul(), name) {
			t.Errorf("no command line runs electop %s", name)
		}
	}
}

// leakSearch runs command lines against one server and searches their output.
type leakSearch struct {
	t       *testing.T
	what    string
	addr    string
	logFile string

	mu   sync.Mutex
	left int // requests until the command is ended
	end  func()
}

// searchLeaks starts a server and runs every command line on it.
func searchLeaks(t *testing.T, what string, handle func(http.ResponseWriter, *http.Request), session string) {
	t.Helper()
	o := &leakSearch{t: t, what: what, logFile: filepath.Join(t.TempDir(), "electop.log"), end: func() {}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle(w, r)
		o.count()
	}))
	defer s.Close()
	o.addr = "http://" + url.UserPassword("me", thePassword).String() + "@" + strings.TrimPrefix(s.URL, "http://")
	o.everything(session)
}

// enoughRequests is the number of requests after which a long-running command ends.
const enoughRequests = 5

func (o *leakSearch) count() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left--; o.left == 0 {
		o.end()
	}
}

func (o *leakSearch) endAfter(n int, end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left, o.end = n, end
}

func (o *leakSearch) everything(session string) {
	o.t.Helper()
	for _, args := range everyCommand(session) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if slices.Contains([]string{"watch", "campaign", "record"}, args[0]) {
			o.endAfter(enoughRequests, cancel)
		}
		o.run(ctx, args...)
		cancel()
	}
	o.dashboard()
}

// dashboard searches the data of the dashboard.
func (o *leakSearch) dashboard() {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := consulx.NewClient(consulx.Config{Address: o.addr, Token: theToken})
	if err != nil {
		o.t.Fatal(err)
	}
	defer client.Close()
	observer := observe.New(client, observe.Options{Patterns: election.Patterns{election.KeyPattern("service/web/leader")}})
	observer.Study("service/web/leader")
	observer.WatchChecks([]string{"node-1"})
	observer.WatchSessions(true)
	o.endAfter(enoughRequests, cancel)
	var done sync.WaitGroup
	done.Go(func() { _ = observer.Run(ctx) })
	for s := range observer.Snapshots() {
		shown := fmt.Sprintf("%+v %+v %s", s.Connection, s.Events, s.Datacenter)
		if s.Surroundings != nil {
			shown += s.Surroundings.SiblingsErr + s.Surroundings.SessionsErr
		}
		if s.SessionList != nil {
			shown += s.SessionList.Err
		}
		for _, checks := range s.Checks {
			shown += checks.Err
		}
		o.search("the dashboard", "the screen", shown)
	}
	done.Wait()
	o.search("the dashboard", "its address", client.Address())
}

// search fails the test if a text contains a secret.
func (o *leakSearch) search(command, where, text string) {
	o.t.Helper()
	for _, leak := range leaks() {
		if strings.Contains(text, leak) {
			o.t.Errorf("%s, %s: %q is on %s:\n%s", o.what, command, leak, where, text)
		}
	}
}

// run executes a command line and searches its output.
func (o *leakSearch) run(ctx context.Context, args ...string) {
	o.t.Helper()
	var out, errOut buffer
	d := deps{stdin: strings.NewReader("y\n"), stdout: &out, stderr: &errOut, interactive: true}
	common := []string{"--http-addr", o.addr, "--token", theToken, "--log-file", o.logFile, "--log-level", "debug", "--history", o.logFile + ".db"}
	if args[0] == cobra.ShellCompRequestCmd {
		run(ctx, d, slices.Concat(args[:1], common, args[1:])) // cobra completes the arguments after __complete
	} else {
		run(ctx, d, append(common, args...))
	}
	command := "electop " + strings.Join(args, " ")
	o.search(command, "stdout", out.String())
	o.search(command, "stderr", errOut.String())
	for _, file := range []string{o.logFile, o.logFile + ".db", o.logFile + ".db-wal"} {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			o.t.Fatal(err)
		}
		o.search(command, filepath.Base(file), string(text))
	}
}

// otherHost is another host, which must receive no request.
func otherHost(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host received %s %s: %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestNoCommandShowsASecretThatAServerSendsBack(t *testing.T) {
	for _, r := range reflections(otherHost(t)) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			searchLeaks(t, r.name, r.handle, "11111111-2222-3333-4444-555555555555")
		})
	}
}

// This Consul works until the first write.
func TestNoCommandShowsASecretThatAWriteSendsBack(t *testing.T) {
	w := onMemory(t)
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.addr})
	forward.Transport = &http.Transport{DisableKeepAlives: true}
	forward.ErrorLog = log.New(io.Discard, "", 0)
	session := w.session(nil)
	w.acquire("service/web/leader", session, "web-1")
	conflict := reflection{"409", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(api.TxnResponse{Errors: api.TxnErrors{{What: echoed(r)}}})
	}}
	for _, r := range append(reflections(otherHost(t)), conflict) {
		t.Run(r.name, func(t *testing.T) {
			searchLeaks(t, r.name, func(w http.ResponseWriter, req *http.Request) {
				reads := req.Method == http.MethodGet || req.URL.Path == "/v1/txn" && req.ContentLength < 200
				if reads {
					forward.ServeHTTP(w, req)
				} else {
					r.handle(w, req)
				}
			}, session)
		})
	}
}

// A certificate can contain names that the client has sent before.
func TestNoCommandShowsASecretOfACertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	host := strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789abcdef-", r) {
			return r
		}
		return -1
	}, theToken) + ".example"
	cert, ca := certificateFor(t, host)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.StartTLS()
	defer s.Close()
	var out, errOut buffer
	d := deps{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut}
	token := strings.TrimSuffix(host, ".example")
	run(t.Context(), d, []string{"list", "--http-addr", s.URL, "--ca-file", ca, "--token", token})
	if text := out.String() + errOut.String(); strings.Contains(text, token) || !strings.Contains(text, "certificate") {
		t.Errorf("got %s", text)
	}
}

// certificateFor creates a certificate for a host and returns the path of its CA.
func certificateFor(t *testing.T, host string) (cert tls.Certificate, ca string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{host},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, ca
}

// The mode of an existing file is kept.
func TestLogFileIsPrivate(t *testing.T) {
	w := onMemory(t)
	dir := t.TempDir()
	old, young := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	if err := os.WriteFile(old, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{old: 0o644, young: 0o600} {
		w.run("campaign", "cron", "--log-file", path, "--", "true").must(t, exitOK)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}
