package consultest

import (
	"errors"
	"net"
	"strings"
)

type ports struct {
	http, serf, server int
}

// consulDefaultHTTP is never used, because an agent of the developer may listen on it.
const consulDefaultHTTP = 8500

// pickPorts returns ports that are free now. Another program may bind one before the agent does, so callers retry.
func pickPorts() (ports, error) {
	var (
		p    ports
		held []interface{ Close() error }
	)
	defer func() {
		for _, h := range held {
			_ = h.Close()
		}
	}()
	for _, target := range []*int{&p.http, &p.serf, &p.server} {
		tcp, udp, err := holdPort()
		if err != nil {
			return ports{}, err
		}
		held = append(held, tcp, udp)
		*target = tcp.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}

// holdPort binds one port for TCP and for UDP, because Serf uses both.
func holdPort() (net.Listener, net.PacketConn, error) {
	const attempts = 20
	for range attempts {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err == nil && tcp.Addr().(*net.TCPAddr).Port != consulDefaultHTTP {
			return tcp, udp, nil
		}
		if err == nil {
			_ = udp.Close()
		}
		_ = tcp.Close()
	}
	return nil, nil, errors.New("consultest: no port is free for both TCP and UDP")
}

func isPortCollision(log string) bool {
	return strings.Contains(log, "address already in use")
}
