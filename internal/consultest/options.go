package consultest

// Option changes the settings of an agent.
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

// WithNode sets the agent's node name, by default "node-1". For a [Cluster], it sets the prefix of the node names.
func WithNode(name string) Option {
	return func(s *settings) { s.node = name }
}

// WithDatacenter sets the agent's datacenter, by default "dc1".
func WithDatacenter(name string) Option {
	return func(s *settings) { s.datacenter = name }
}

// WithConfig adds Consul agent configuration in HCL or as a JSON object. It overrides the configuration of this
// package and of earlier options.
func WithConfig(text string) Option {
	return func(s *settings) { s.extra = append(s.extra, text) }
}

// WithACL enables ACLs with the default policy "deny". The agent's Client and Token have all permissions; a test uses
// them to create tokens with fewer permissions.
func WithACL() Option {
	const managementToken = "e1ec0709-0000-4000-8000-000000000001"
	return func(s *settings) {
		s.token = managementToken
		s.extra = append(s.extra, `{"acl":{"enabled":true,"default_policy":"deny",`+
			`"tokens":{"initial_management":"`+managementToken+`","agent":"`+managementToken+`"}}}`)
	}
}
