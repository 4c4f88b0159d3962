package store

// NodeChecks returns a query for the checks of one node, sorted by ID.
func (s *Store) NodeChecks(node string) Query[[]*Check] {
	node = Fold(node)
	return Query[[]*Check]{s, topic{topicNodeChecks, node}, func(s *Store) Result[[]*Check] {
		found := s.catalog.checksWhere(func(c *Check) bool { return Fold(c.Node) == node })
		return Result[[]*Check]{Index: s.catalog.checksIndex, Body: found}
	}}
}

// StateChecks returns a query for the checks with a status. It does not wait for changes.
func (s *Store) StateChecks(status string) Query[[]*Check] {
	return Query[[]*Check]{store: s, read: func(s *Store) Result[[]*Check] {
		found := s.catalog.checksWhere(func(c *Check) bool { return c.Status == status })
		return Result[[]*Check]{Index: s.catalog.checksIndex, Body: found}
	}}
}
