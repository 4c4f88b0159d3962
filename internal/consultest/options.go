package consultest

// Option changes how an agent is started.
type Option func(*settings)

type settings struct {
	node       string
	datacenter string
	token      string
	extra      []string
}

func newSettings(opts []Option) settings {
	s := settings{node: "node-1", datacenter: "dc1"}
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// WithNode sets the agent's node name instead of "node-1". In a [Cluster] it is the prefix of the names.
func WithNode(name string) Option {
	return func(s *settings) { s.node = name }
}

// WithDatacenter sets the agent's datacenter instead of "dc1".
func WithDatacenter(name string) Option {
	return func(s *settings) { s.datacenter = name }
}

// WithConfig adds a piece of Consul agent configuration, as HCL or as a JSON object. Later pieces win over earlier
// ones and over what this package sets.
func WithConfig(text string) Option {
	return func(s *settings) { s.extra = append(s.extra, text) }
}

// WithACL turns ACLs on with default deny. The agent's Client and Token have every right; tests make lesser tokens
// with them.
func WithACL() Option {
	const managementToken = "e1ec0709-0000-4000-8000-000000000001"
	return func(s *settings) {
		s.token = managementToken
		s.extra = append(s.extra, `{"acl":{"enabled":true,"default_policy":"deny",`+
			`"tokens":{"initial_management":"`+managementToken+`","agent":"`+managementToken+`"}}}`)
	}
}
