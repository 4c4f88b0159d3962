// Package shell writes commands for a POSIX shell: those that the user copies, and those of the settings. It does no I/O.
package shell

import (
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"electop/election"
)

// Cluster contains the settings with which a command connects to Consul. It contains no secrets.
type Cluster struct {
	// URL is the address: scheme, host, port and path prefix, or unix:// and the path of a socket.
	URL string
	// Datacenter is empty for the datacenter of the agent.
	Datacenter, Namespace, Partition                     string
	CAFile, CAPath, ClientCert, ClientKey, TLSServerName string
	// Token and Password report whether a token and a password are configured. Commands read the token and the password
	// from Consul's environment variables.
	Token, Password bool
	// Context is the context of electop's config file, or empty if no context is used.
	Context string
}

// KVGet returns the consul command that shows a key.
func (c Cluster) KVGet(key, datacenter string) (string, error) {
	if err := readable(key); err != nil {
		return "", err
	}
	words := append([]string{"consul", "kv", "get", "-detailed"}, c.flags("-", datacenter)...)
	return line(append(words, operands(key)...)), nil
}

// CurlKV returns the curl command that shows a key.
func (c Cluster) CurlKV(key, datacenter string) (string, error) {
	if err := readable(key); err != nil {
		return "", err
	}
	segments := strings.Split(key, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return c.curl("/v1/kv/"+strings.Join(segments, "/"), datacenter), nil
}

// CurlSession returns the curl command that shows a session.
func (c Cluster) CurlSession(id, datacenter string) string {
	return c.curl("/v1/session/info/"+url.PathEscape(id), datacenter)
}

// Act returns the electop command that releases these keys, or destroys the sessions that hold them. patterns are the
// watched patterns.
func (c Cluster) Act(kind election.ActionKind, keys, patterns []string) string {
	words := append([]string{"electop", string(kind)}, c.electop()...)
	if len(patterns) != 1 || patterns[0] != election.DefaultPattern {
		for _, p := range patterns {
			words = append(words, "-k", Quote(p))
		}
	}
	return line(append(words, operands(keys...)...))
}

// DestroySession returns the electop command that destroys a session.
func (c Cluster) DestroySession(id string) string {
	return line(append(append([]string{"electop", "destroy"}, c.electop()...), "--session", Quote(id)))
}

// Electop returns an electop command for this cluster, or "" if there are no words. The first words are "electop" and the
// name of the command.
func (c Cluster) Electop(words []string) string {
	if len(words) == 0 {
		return ""
	}
	quoted := append(slices.Clone(words[:2]), c.electop()...)
	for _, word := range words[2:] {
		quoted = append(quoted, Quote(word))
	}
	return line(quoted)
}

func (c Cluster) electop() []string {
	flags := c.flags("--", c.Datacenter)
	if c.Context != "" {
		flags = append([]string{"--context=" + Quote(c.Context)}, flags...)
	}
	return flags
}

// flags returns the flags that select the cluster. Consul's CLI and electop use the same names for these flags.
func (c Cluster) flags(dash, datacenter string) []string {
	var flags []string
	for _, f := range [][2]string{
		{"http-addr", c.URL}, {"datacenter", datacenter}, {"namespace", c.Namespace}, {"partition", c.Partition}, {"ca-file", c.CAFile},
		{"ca-path", c.CAPath}, {"client-cert", c.ClientCert}, {"client-key", c.ClientKey}, {"tls-server-name", c.TLSServerName},
	} {
		if f[1] != "" {
			flags = append(flags, dash+f[0]+"="+Quote(f[1]))
		}
	}
	return flags
}

// curl returns the curl command that reads a path of Consul's API. The path must be escaped.
func (c Cluster) curl(path, datacenter string) string {
	words := []string{"curl", "-sS"}
	for _, f := range [][2]string{{"--cacert", c.CAFile}, {"--capath", c.CAPath}, {"--cert", c.ClientCert}, {"--key", c.ClientKey}} {
		if f[1] != "" {
			words = append(words, f[0], Quote(f[1]))
		}
	}
	base := c.URL
	if socket, found := strings.CutPrefix(base, "unix://"); found {
		words, base = append(words, "--unix-socket", Quote(socket)), "http://localhost"
	}
	if c.Password {
		words = append(words, `-u "$CONSUL_HTTP_AUTH"`)
	}
	if c.Token {
		words = append(words, `-H "X-Consul-Token: $CONSUL_HTTP_TOKEN"`)
	}
	query := url.Values{}
	for _, p := range [][2]string{{"dc", datacenter}, {"ns", c.Namespace}, {"partition", c.Partition}} {
		if p[1] != "" {
			query.Set(p[0], p[1])
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return line(append(words, Quote(base+path)))
}

// operands quotes positional arguments. If an argument begins with "-", operands adds "--" before all arguments.
func operands(texts ...string) []string {
	var words []string
	if slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "-") }) {
		words = []string{"--"}
	}
	for _, text := range texts {
		words = append(words, Quote(text))
	}
	return words
}

// Quote returns a text as one word of a POSIX shell. The text must not contain a NUL byte, because no argument can
// contain one.
func Quote(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func line(words []string) string { return strings.Join(words, " ") }

// readable returns an error if no request can address the key, because Consul's server normalizes paths.
func readable(key string) error {
	if key == "" || !election.Addressable(key) || path.Clean("/"+key) != "/"+strings.TrimSuffix(key, "/") {
		return errors.New("no command can show this key: Consul normalizes the key to another path")
	}
	return nil
}
