package consultest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
)

type ports struct {
	http, serf, server, wan int
}

// Agents listen on ports from firstPort to lastPort. The range excludes Consul's default ports, which the developer's
// own agent may use, and the ephemeral ports (/proc/sys/net/ipv4/ip_local_port_range): an outgoing connection could
// occupy the port of an agent that restarts.
const (
	firstPort = 10000
	lastPort  = 32767
)

// FreePorts returns ports that are currently free. Another program may bind one of them before the server does, so
// callers retry if [IsPortCollision].
func FreePorts(n int) ([]int, error) {
	var (
		free []int
		held []interface{ Close() error }
	)
	defer func() {
		for _, h := range held {
			_ = h.Close()
		}
	}()
	for range n {
		tcp, udp, err := holdPort()
		if err != nil {
			return nil, err
		}
		held = append(held, tcp, udp)
		free = append(free, tcp.Addr().(*net.TCPAddr).Port)
	}
	return free, nil
}

func pickPorts() (ports, error) {
	free, err := FreePorts(4)
	if err != nil {
		return ports{}, err
	}
	return ports{http: free[0], serf: free[1], server: free[2], wan: free[3]}, nil
}

// holdPort binds one port for TCP and for UDP, because Serf uses both.
func holdPort() (net.Listener, net.PacketConn, error) {
	const attempts = 100
	for range attempts {
		address := "127.0.0.1:" + strconv.Itoa(firstPort+rand.N(lastPort-firstPort+1))
		tcp, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		udp, err := net.ListenPacket("udp", address)
		if err == nil {
			return tcp, udp, nil
		}
		_ = tcp.Close()
	}
	return nil, nil, errors.New("consultest: no port is free for both TCP and UDP")
}

// IsPortCollision reports whether a server's log says that another program uses its port.
func IsPortCollision(log string) bool {
	return strings.Contains(log, "address already in use")
}
