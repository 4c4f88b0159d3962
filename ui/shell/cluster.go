// Package shell writes commands for a POSIX shell: those that the user copies, and those of the settings. It does no I/O.
package shell

import (
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
	// Context is the context of electop's config file, or empty if no context is used.
	Context string
}

// KVGet returns the consul command that shows a key. It returns "" if no request can address the key, because Consul's
// server normalizes paths.
func (c Cluster) KVGet(key, datacenter string) string {
	if key == "" || !election.Addressable(key) || path.Clean("/"+key) != "/"+strings.TrimSuffix(key, "/") {
		return ""
	}
	c.Context = "" // is not a setting of Consul
	return line(append(append([]string{"consul", "kv", "get", "-detailed"}, c.flags("-", datacenter)...), operands(key)...))
}

// Electop returns an electop command for this cluster, or "" if there are no words. The first words are "electop" and the
// name of the command. keys are its positional arguments.
func (c Cluster) Electop(words []string, keys ...string) string {
	if len(words) == 0 {
		return ""
	}
	quoted := append(slices.Clone(words[:2]), c.flags("--", c.Datacenter)...)
	for _, word := range words[2:] {
		quoted = append(quoted, Quote(word))
	}
	return line(append(quoted, operands(keys...)...))
}

// flags returns the flags that select the cluster. Consul's CLI and electop use the same names, except for the context.
func (c Cluster) flags(dash, datacenter string) []string {
	var flags []string
	for _, f := range [][2]string{
		{"context", c.Context}, {"http-addr", c.URL}, {"datacenter", datacenter}, {"namespace", c.Namespace}, {"partition", c.Partition}, {"ca-file", c.CAFile},
		{"ca-path", c.CAPath}, {"client-cert", c.ClientCert}, {"client-key", c.ClientKey}, {"tls-server-name", c.TLSServerName},
	} {
		if f[1] != "" {
			flags = append(flags, dash+f[0]+"="+Quote(f[1]))
		}
	}
	return flags
}
