package consulx

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"electop/election/sanitize"
	"electop/internal/consultest"
)

const secret = "0b5c2f0e-1111-2222-3333-444455556666"

// echo starts a server that denies every request, and returns the server and a function that returns the next
// request.
func echo(t *testing.T, start func(http.Handler) *httptest.Server) (*httptest.Server, func() *http.Request) {
	t.Helper()
	asked := make(chan *http.Request, 10)
	s := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte("Permission denied: no rights for token " + r.Header.Get("X-Consul-Token") + "\x1b[2J"))
	}))
	t.Cleanup(s.Close)
	return s, func() *http.Request { return <-asked }
}

func TestConfigFromFlagsAndEnvironment(t *testing.T) {
	s, asked := echo(t, httptest.NewServer)
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(" from-a-file\n"), 0o600))
	host := strings.TrimPrefix(s.URL, "http://")
	for _, c := range []struct {
		what  string
		env   string
		cfg   Config
		token string
		query string
		path  string
		user  string
	}{
		{what: "defaults", env: "CONSUL_HTTP_ADDR=" + host},
		{what: "URL", env: "CONSUL_HTTP_ADDR=" + s.URL},
		{what: "flag overrides environment", env: "CONSUL_HTTP_ADDR=127.0.0.1:1", cfg: Config{Address: host}},
		{what: "proxy prefix", cfg: Config{Address: s.URL + "/consul/"}, path: "/consul"},
		{what: "token", env: "CONSUL_HTTP_TOKEN=from-env", cfg: Config{Address: host}, token: "from-env"},
		{what: "token file", env: "CONSUL_HTTP_TOKEN_FILE=" + file, cfg: Config{Address: host}, token: "from-a-file"},
		{
			what: "file overrides token in the environment", env: "CONSUL_HTTP_TOKEN=x CONSUL_HTTP_TOKEN_FILE=" + file,
			cfg: Config{Address: host}, token: "from-a-file",
		},
		{
			what: "configured token overrides file of the environment", env: "CONSUL_HTTP_TOKEN_FILE=" + file,
			cfg: Config{Address: host, Token: "given"}, token: "given",
		},
		{
			what: "configured file overrides configured token", env: "CONSUL_HTTP_TOKEN=x",
			cfg: Config{Address: host, Token: "given", TokenFile: file}, token: "from-a-file",
		},
		{what: "basic auth", env: "CONSUL_HTTP_AUTH=me:pass", cfg: Config{Address: host}, user: "me:pass"},
		{what: "user in the address", cfg: Config{Address: "http://me:pa%3ass@" + host}, user: "me:pa:ss"},
		{
			what: "namespace and partition", env: "CONSUL_NAMESPACE=ns1 CONSUL_PARTITION=p1",
			cfg: Config{Address: host, Datacenter: "dc7"}, query: "dc=dc7&ns=ns1&partition=p1",
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			client := newClient(t, c.cfg)
			if client.Address() != host+c.path {
				t.Errorf("the address is shown as %s, want %s", client.Address(), host+c.path)
			}
			if _, err := client.ConsensusLeader(t.Context()); !errors.Is(err, ErrDenied) {
				t.Fatal(err)
			}
			r := asked()
			user, password, _ := r.BasicAuth()
			if got := strings.TrimSuffix(user+":"+password, ":"); got != c.user {
				t.Errorf("the client sent the user %q, want %q", got, c.user)
			}
			if r.Header.Get("X-Consul-Token") != c.token || r.URL.RawQuery != c.query || r.URL.Path != c.path+"/v1/status/leader" {
				t.Errorf("the client requested %s with token %q; want the path %s/v1/status/leader, the query %q and token %q", r.URL, r.Header.Get("X-Consul-Token"), c.path, c.query, c.token)
			}
			if r.Header.Get("Accept-Encoding") != "" {
				t.Error("the client requested compressed responses over loopback")
			}
		})
	}
}

func TestTLS(t *testing.T) {
	s, _ := echo(t, httptest.NewTLSServer)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	consultest.WritePEM(t, ca, "CERTIFICATE", s.Certificate().Raw)
	host := strings.TrimPrefix(s.URL, "https://")
	for _, c := range []struct {
		what, env string
		cfg       Config
		want      string // empty if the connection succeeds
	}{
		{what: "unknown authority", cfg: Config{Address: s.URL}, want: "unknown authority"},
		{what: "authority by flag", cfg: Config{Address: s.URL, CAFile: ca}},
		{what: "authority by environment", env: "CONSUL_CACERT=" + ca, cfg: Config{Address: s.URL}},
		{what: "TLS by environment", env: "CONSUL_HTTP_SSL=true", cfg: Config{Address: host, CAFile: ca}},
		{what: "unverified", env: "CONSUL_HTTP_SSL_VERIFY=false", cfg: Config{Address: s.URL}},
		{what: "server name", cfg: Config{Address: s.URL, CAFile: ca, TLSServerName: "example.com"}},
		{what: "wrong server name", cfg: Config{Address: s.URL, CAFile: ca, TLSServerName: "wrong.test"}, want: "wrong.test"},
		{what: "plain http to TLS", cfg: Config{Address: host}, want: "HTTPS"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			_, err := newClient(t, c.cfg).ConsensusLeader(t.Context())
			if c.want == "" && !errors.Is(err, ErrDenied) || c.want != "" && !strings.Contains(Describe(err), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "consul.sock")
	listener, err := net.Listen("unix", path)
	must(t, err)
	_, asked := echo(t, func(h http.Handler) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		s.Listener.Close()
		s.Listener = listener
		s.Start()
		return s
	})
	c := newClient(t, Config{Address: "unix://" + path})
	if _, err := c.ConsensusLeader(t.Context()); !errors.Is(err, ErrDenied) || c.Address() != path {
		t.Fatalf("%s: %v", c.Address(), err)
	}
	_ = asked()
}

func TestSecretsAreRedacted(t *testing.T) {
	s, _ := echo(t, httptest.NewServer)
	host := strings.TrimPrefix(s.URL, "http://")
	for _, cfg := range []Config{
		{Address: host, Token: secret},
		{Address: "http://me:" + secret + "@" + host, Token: secret},
		{Address: "http://me:" + secret + "@127.0.0.1:1"},
		{Address: "http://me:" + secret + "@no such host:1"},
		{Address: "ftp://" + secret},
		{Address: host, Token: secret + "\nX-Evil: 1"},
	} {
		c, err := NewClient(cfg)
		if err == nil {
			defer c.Close()
			_, err = c.ConsensusLeader(t.Context())
			if strings.Contains(c.Address(), secret) {
				t.Errorf("the address %s contains the secret", c.Address())
			}
		}
		if err == nil {
			t.Fatalf("%+v: got no error, want one", cfg)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), secret) && cfg.Address != "ftp://"+secret {
				t.Errorf("an error contains the secret: %v", e)
			}
		}
		if text := Describe(err); sanitize.Text(text) != text || strings.Contains(text, secret) {
			t.Errorf("the error is described as %q, want a safe text without the secret", text)
		}
	}
}

func TestBadSettingsAreOneLine(t *testing.T) {
	for _, c := range []struct {
		env string
		cfg Config
	}{
		{env: "CONSUL_HTTP_SSL=maybe"},
		{env: "CONSUL_HTTP_SSL_VERIFY=maybe"},
		{cfg: Config{Address: "ftp://x"}},
		{cfg: Config{Address: "http://"}},
		{cfg: Config{Address: "a b:1"}},
		{cfg: Config{TokenFile: "/no/such/file"}},
		{cfg: Config{CAFile: "/no/such/file"}},
		{cfg: Config{ClientCert: "/no/such/file"}},
	} {
		t.Run(c.env+c.cfg.Address, func(t *testing.T) {
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			if _, err := NewClient(c.cfg); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFlagsHaveNoSecret(t *testing.T) {
	t.Setenv("CONSUL_NAMESPACE", "team")
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Address: "http://me:secret@h:1/x/", Token: "secret"}, "[[http-addr http://h:1/x] [namespace team]]"},
		{Config{Address: "unix:///run/consul.sock", Partition: "p"}, "[[http-addr unix:///run/consul.sock] [partition p] [namespace team]]"},
		{Config{Address: "[::1]:8500", TLSServerName: "s"}, "[[http-addr http://[::1]:8500] [namespace team] [tls-server-name s]]"},
	} {
		client, err := NewClient(c.cfg)
		must(t, err)
		if got := fmt.Sprint(slices.DeleteFunc(client.Flags(), func(f [2]string) bool { return f[1] == "" })); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestInfo(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		info, err := b.client.Info(t.Context())
		if err != nil || info.Datacenter != "dc1" || info.Node != b.Node || info.Version == "" || info.ConsensusLeader == "" {
			t.Fatalf("%+v, %v", info, err)
		}
	})
	t.Run("without rights", func(t *testing.T) {
		a := consultest.Dev(t, consultest.WithACL(), consultest.WithDatacenter("dc9"))
		info, err := newClient(t, Config{Address: a.Addr()}).Info(t.Context())
		if err != nil || info.Datacenter != "dc9" || info.Node != "" || info.ConsensusLeader == "" {
			t.Fatalf("%+v, %v", info, err)
		}
	})
}
