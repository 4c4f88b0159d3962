package store

// NodeChecks returns a query for the checks of one node, sorted by ID.
func (s *Store) NodeChecks(node string) Query[[]*Check] {
	node = Fold(node)
	return Query[[]*Check]{s, topic{topicNodeChecks, node}, func(s *Store) Result[[]*Check] {
		found := s.catalog.checksWhere(func(c *Check) bool { return Fold(c.Node) == node })
		return Result[[]*Check]{Index: s.catalog.checksIndex, Body: found}
	}}
}
