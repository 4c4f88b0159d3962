package consultest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// FreePorts returns ports that are currently free. No other test uses them until the process ends, so a server can stop and
// start again. Another program may bind one of them before the server does, so callers retry if [IsPortCollision].
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
		port := strconv.Itoa(firstPort + rand.N(lastPort-firstPort+1))
		if !reserve(port) {
			continue
		}
		address := "127.0.0.1:" + port
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

// reserved are sockets at 127.0.0.2, which no server uses: each keeps other test processes from choosing its port.
var reserved sync.Map //nolint:gochecknoglobals // the ports belong to the process

// reserve reports whether no other test has chosen the port. Where 127.0.0.2 does not exist, it reserves nothing.
func reserve(port string) bool {
	mark, err := net.ListenPacket("udp", "127.0.0.2:"+port)
	if err == nil {
		reserved.Store(port, mark) // otherwise, the garbage collector closes it
	}
	return !errors.Is(err, syscall.EADDRINUSE)
}

// IsPortCollision reports whether a server's log says that another program uses its port.
func IsPortCollision(log string) bool {
	return strings.Contains(log, "address already in use")
}
