package consulx

import (
	"testing"
)

// Queries for keys, sessions and checks must fit the connections for blocking queries.
func TestBlockingQueriesFitTheirConnections(t *testing.T) {
	for conns := LeastConnections; conns <= DefaultConnections; conns++ {
		c := newClient(t, Config{Address: "consul.test", MaxConnections: conns})
		if all := c.KeyQueries() + sessionListConns + c.CheckQueries(c.KeyQueries()); all > c.blocking {
			t.Errorf("%d connections: %d blocking queries for %d connections", conns, all, c.blocking)
		}
	}
}
