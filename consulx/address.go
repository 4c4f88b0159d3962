package consulx

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hashicorp/consul/api"

	"electop/election/sanitize"
)

// agentAddress is a parsed address of Consul: its scheme is http, https or unix, whose path is that of the socket. Another
// path is the prefix that a reverse proxy requires.
type agentAddress struct{ url.URL }

// parseAddress parses an address like Consul's library. It also accepts user:password@ before the host; the library
// would treat these credentials as part of the host and show them in errors.
func parseAddress(address, scheme string) (t agentAddress, err error) {
	t.Scheme = scheme
	rest := address
	if before, after, ok := strings.Cut(address, "://"); ok {
		switch rest = after; before {
		case "http": // the scheme http does not override https from CONSUL_HTTP_SSL
		case "https":
			t.Scheme = before
		case unixScheme:
			t.Scheme, t.Path = before, rest
			return t, nil
		default:
			return t, fmt.Errorf("address of Consul: unknown scheme %q; use http, https or unix", sanitize.Line(before, 20))
		}
	}
	rest, path, _ := strings.Cut(rest, "/")
	if path = strings.TrimSuffix(path, "/"); path != "" {
		t.Path = "/" + path
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		name, password, _ := strings.Cut(rest[:i], ":")
		t.User, rest = url.UserPassword(unescapePath(name), unescapePath(password)), rest[i+1:]
	}
	t.Host = rest
	if probe, err := url.Parse("http://" + rest); rest == "" || err != nil || probe.Host != rest {
		return t, errors.New("address of Consul must be host:port, http://…, https://… or unix://…")
	}
	return t, nil
}

const unixScheme = "unix"

func unescapePath(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// Auth returns the credentials before the host, or nil if the address contains no credentials.
func (t agentAddress) Auth() *api.HttpBasicAuth {
	if t.User == nil {
		return nil
	}
	password, _ := t.User.Password()
	return &api.HttpBasicAuth{Username: t.User.Username(), Password: password}
}

// endpoint returns the address for requests.
func (t agentAddress) endpoint() *url.URL {
	if t.Scheme == unixScheme {
		return &url.URL{Scheme: "http", Host: "localhost"}
	}
	t.User = nil
	return &t.URL
}

// loopback reports whether the agent is on this machine.
func (t agentAddress) loopback() bool {
	host := t.Hostname()
	addr, err := netip.ParseAddr(host)
	return t.Scheme == unixScheme || host == "localhost" || err == nil && addr.IsLoopback()
}
