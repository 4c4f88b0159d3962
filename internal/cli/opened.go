package cli

import (
	"slices"
	"sync"

	"electop/consulx"
	"electop/internal/redact"
)

// opened holds the clients that a command opens, and closes them at its end. It knows the secrets of the command.
type opened struct {
	mu      sync.Mutex
	clients []*consulx.Client
	secrets []string
}

// client opens a client.
func (o *opened) client(config consulx.Config) (*consulx.Client, error) {
	client, err := consulx.NewClient(config)
	if err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.clients = append(o.clients, client)
	}
	return client, err
}

// hide adds a secret that no client of Consul has.
func (o *opened) hide(secret string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.secrets, secret) {
		o.secrets = append(o.secrets, secret)
	}
}

// redact replaces the secrets of the command in text, such as a crash report.
func (o *opened) redact(text string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, client := range o.clients {
		text = client.Redact(text)
	}
	return redact.New(o.secrets...).Redact(text)
}

// close closes the clients.
func (o *opened) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, client := range o.clients {
		client.Close()
	}
	o.clients = nil
}
