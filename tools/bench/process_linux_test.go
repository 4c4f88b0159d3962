package main

import (
	"net"
	"os"
	"testing"
)

func TestEstablishedTo(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2134 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0
   1: 0100007F:A001 0100007F:2134 01 00000000:00000000 00:00000000 00000000     0        0 22 1 0 20 4 30 10 -1
   2: 0100007F:2134 0100007F:A001 01 00000000:00000000 00:00000000 00000000     0        0 33 1 0 20 4 30 10 -1
   3: 0100007F:A002 0100007F:2134 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
`
	if got := establishedTo(table, 0x2134); len(got) != 1 || !got["22"] {
		t.Errorf("got %v", got)
	}
}

func TestOwnProcess(t *testing.T) {
	used, err := cpuTime(os.Getpid())
	if err != nil || used <= 0 {
		t.Errorf("CPU time %s, error %v; want more than 0", used, err)
	}
	now, peak, err := memory(os.Getpid())
	if err != nil || now <= 0 || peak < now/2 {
		t.Errorf("memory %d, peak %d, error %v; want more than 0", now, peak, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	if n, err := connections(os.Getpid(), port); err != nil || n != 1 {
		t.Errorf("%d connections, %v", n, err)
	}
}
