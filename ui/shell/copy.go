// Package shell writes commands for a POSIX shell: those that the user copies, and those of the settings. It does no I/O.
package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"electop/election"
	"electop/election/sanitize"
)

// Cluster contains the settings with which a command connects to a store. It contains no secrets.
type Cluster struct {
	// Flags are the names and values of the flags of electop that select the store. An empty value stands for the default.
	Flags [][2]string
	// Own are the names and values of the flags of electop that select the history and, unless the default selects them,
	// the keys.
	Own [][2]string
	// Foreign is set if the consul command does not read the store. Otherwise it has the same flags.
	Foreign bool
	// Context is the context of electop's config file, or empty if no context is used.
	Context string
}

// KVGet returns the consul command that shows a key. It returns "" if no request can address the key, because Consul's
// server normalizes paths, or if the consul command does not read the store.
func (c Cluster) KVGet(key, datacenter string) string {
	if key == "" || !election.Addressable(key) || path.Clean("/"+key) != "/"+strings.TrimSuffix(key, "/") {
		return ""
	}
	return c.Consul(line([]string{"consul kv get -detailed"}, operands(key)), datacenter)
}

// Consul adds the flags of the cluster to a command such as "consul kv put KEY". It returns "" for an empty command, or if the
// consul command does not read the store.
func (c Cluster) Consul(command, datacenter string) string {
	words := strings.SplitN(command, " ", 4)
	if len(words) < 4 || c.Foreign {
		return ""
	}
	all := slices.Clone(c.Flags)
	for i := range all {
		if all[i][0] == "datacenter" && datacenter != c.Context { // not the name of one of several contexts
			all[i][1] = datacenter
		}
	}
	return line(words[:3], flags("-", all), words[3:])
}

// Pasteable adds the flags of the cluster to the commands of Consul in a text.
func (c Cluster) Pasteable(text, datacenter string) string {
	for _, verb := range []string{"consul kv put ", "consul kv delete "} {
		text = strings.ReplaceAll(text, verb, cmp.Or(c.Consul(verb, datacenter), verb))
	}
	return text
}

// Electop returns an electop command for this cluster, or "" if there are no words. The first words are "electop" and the
// name of the command. keys are its positional arguments.
func (c Cluster) Electop(words []string, keys ...string) string {
	if len(words) == 0 {
		return ""
	}
	all := slices.Concat([][2]string{{"context", c.Context}}, c.Flags, c.Own)
	return line(words[:2], flags("--", all), election.Map(words[2:], Quote), operands(keys...))
}

// flags returns the flags that have a value.
func flags(dash string, all [][2]string) (words []string) {
	for _, f := range all {
		if f[1] != "" {
			words = append(words, dash+f[0]+"="+Quote(f[1]))
		}
	}
	return words
}

// Item is a part of an election or session that the user can copy. Key selects it in the menu.
type Item struct{ Key, What, Text string }

// OfElection lists the parts of an election.
func (c Cluster) OfElection(e *election.Election) []Item {
	return []Item{
		{"k", "key", e.Key()}, {"n", "name", e.Name}, {"l", "leader", e.Leader}, {"s", "session", e.Pair.Session},
		{"o", "node", e.Node()}, {"v", "value", string(e.Pair.Value)}, {"c", "consul command", c.KVGet(e.Key(), e.Datacenter)},
	}
}

// CopyRefusal returns the reason why a text is not copied, or "". It refuses control characters, because a shell could
// execute them when the user pastes the text.
func CopyRefusal(what, text string) string {
	switch {
	case text == "":
		return "There is no " + what + " to copy."
	case unsafe(text, what == "value"):
		return "The " + what + " contains control or invisible characters: it was not copied."
	}
	return ""
}

// unsafe reports whether a text contains control or invisible characters, which a shell or a terminal may execute. A value
// may contain line breaks and tabs.
func unsafe(text string, value bool) bool {
	if value {
		text = strings.NewReplacer("\n", "", "\t", "").Replace(text)
	}
	return sanitize.Text(text) != text
}

// OfSession lists the parts of a session.
func OfSession(s *election.Session) []Item {
	return []Item{{"s", "session ID", s.ID}, {"n", "name", s.Name}, {"o", "node", s.Node}}
}

// operands quotes positional arguments. If an argument begins with "-", operands adds "--" before all arguments.
func operands(texts ...string) []string {
	words := election.Map(texts, Quote)
	if slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "-") }) {
		words = slices.Insert(words, 0, "--")
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

func line(words ...[]string) string { return strings.Join(slices.Concat(words...), " ") }
