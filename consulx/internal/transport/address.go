package transport

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hashicorp/consul/api"

	"electop/election/sanitize"
)

// Address is a parsed address of Consul.
type Address struct {
	Scheme string // "http" or "https"
	host   string
	prefix string // prefix of the path, if a reverse proxy requires one
	socket string // path of a unix socket
	user   *url.Userinfo
}

// ParseAddress parses an address like Consul's library. It also accepts user:password@ before the host; the library
// would treat these credentials as part of the host and show them in errors.
func ParseAddress(address, scheme string) (Address, error) {
	t := Address{Scheme: scheme}
	rest := address
	if before, after, ok := strings.Cut(address, "://"); ok {
		switch before {
		case "http": // the scheme http does not override https from CONSUL_HTTP_SSL
		case "https":
			t.Scheme = "https"
		case "unix":
			t.socket = after
			return t, nil
		default:
			return t, fmt.Errorf("address of Consul: unknown scheme %q; use http, https or unix", sanitize.Line(before, 20))
		}
		rest = after
	}
	if host, path, ok := strings.Cut(rest, "/"); ok {
		rest = host
		if path = strings.TrimSuffix(path, "/"); path != "" {
			t.prefix = "/" + path
		}
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		name, password, _ := strings.Cut(rest[:i], ":")
		t.user, rest = url.UserPassword(unescape(name), unescape(password)), rest[i+1:]
	}
	t.host = rest
	if probe, err := url.Parse("http://" + t.host); t.host == "" || err != nil || probe.Host != t.host {
		return t, errors.New("address of Consul must be host:port, http://…, https://… or unix://…")
	}
	return t, nil
}

func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// Auth returns the credentials before the host, or nil if the address contains no credentials.
func (t Address) Auth() *api.HttpBasicAuth {
	if t.user == nil {
		return nil
	}
	password, _ := t.user.Password()
	return &api.HttpBasicAuth{Username: t.user.Username(), Password: password}
}

// Shown returns the address without credentials, for messages.
func (t Address) Shown() string {
	if t.socket != "" {
		return t.socket
	}
	return t.host + t.prefix
}

// URL returns the address for requests.
func (t Address) URL() *url.URL {
	if t.socket != "" {
		return &url.URL{Scheme: "http", Host: "localhost"}
	}
	return &url.URL{Scheme: t.Scheme, Host: t.host, Path: t.prefix}
}

// Outside returns the address for other programs, without credentials. The address of a socket has the scheme unix.
func (t Address) Outside() string {
	if t.socket != "" {
		return "unix://" + t.socket
	}
	return t.URL().String()
}

// loopback reports whether the agent is on this machine.
func (t Address) loopback() bool {
	if t.socket != "" {
		return true
	}
	host := (&url.URL{Host: t.host}).Hostname()
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
