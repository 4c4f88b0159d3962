package web

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// Listen listens on an address. It uses TLS if certFile is set.
func Listen(ctx context.Context, address, certFile, keyFile string) (net.Listener, error) {
	// A certificate may be renewed while the recorder runs, so each handshake reads the files.
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := tls.LoadX509KeyPair(certFile, keyFile)
		return &cert, err
	}
	if certFile != "" {
		if _, err := load(nil); err != nil {
			return nil, err
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil || certFile == "" {
		return l, err
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: load, NextProtos: []string{"h2", "http/1.1"}}), nil
}

// Serve handles requests until ctx ends, and then waits for the requests in progress. failed receives one line for
// each failed connection.
func Serve(ctx context.Context, l net.Listener, h http.Handler, failed *log.Logger) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		WriteTimeout:   queryTimeout + 30*time.Second, // for the query and the transfer of the response
		MaxHeaderBytes: maxQuery + 16<<10, ErrorLog: failed,
	}
	ended := make(chan error, 1)
	defer context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		ended <- server.Shutdown(last)
	})()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return errors.Join(<-ended, server.Close())
}
