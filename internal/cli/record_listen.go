package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history/web"
)

// validate checks the flags of the listener and reads the token.
func (r *recording) validate() (err error) {
	switch {
	case r.address == "" && (r.tlsCert != "" || r.tokenFile != ""):
		return usagef("--tls-cert and --bearer-token-file require --metrics or --listen")
	case r.address == "":
		return nil
	}
	if r.tokenFile != "" {
		if r.token, err = readToken(r.tokenFile); err != nil {
			return usagef("--bearer-token-file: %v", err)
		}
	}
	host, _, err := net.SplitHostPort(r.address)
	r.local = web.Loopback(host)
	switch {
	case err != nil:
		return usagef("--listen %q: must be an address such as 127.0.0.1:9273", clean(r.address))
	case !r.local && !r.insecure && (r.tlsCert == "" || r.token == ""):
		return usagef("--listen %q: other hosts could read the history; use --tls-cert, --tls-key and --bearer-token-file, or --insecure", clean(r.address))
	}
	return nil
}

// announce prints a line as soon as the elections have been read, and what other hosts need. If there are several
// datacenters, it warns about each datacenter that cannot be read yet.
func (r *recording) announce(ctx context.Context, listener net.Listener) error {
	read := r.lookups // health needs the datacenters that cannot be read yet, too
	if err := read.await(ctx, r.observed.all); err != nil {
		return err
	}
	names := election.Map(read.all, func(l lookup) string { return sanitize.Line(l.snapshot.Datacenter, 40) })
	addresses, patterns := read.watched()
	line := "recording " + clean(strings.Join(patterns, ", ")) + " of " + strings.Join(names, ", ") + " at " + addresses + " in " + clean(r.path)
	if read.all[0].Cluster(ctx) == "" {
		line += "; Connect is disabled, so electop cannot check that the file belongs to this cluster"
	}
	if listener == nil {
		r.warn(line)
		return nil
	}
	host, _, _ := net.SplitHostPort(r.address)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if name, err := os.Hostname(); err == nil && slices.Contains([]string{"", "::", "0.0.0.0"}, host) {
		host = name
	}
	url := "http://" + net.JoinHostPort(host, port)
	if r.tlsCert != "" {
		url = strings.Replace(url, "http", "https", 1)
	}
	r.warn(line + ", serving " + url)
	if r.local {
		return nil
	}
	if r.token != "" {
		url += " --history-token-file FILE"
	}
	r.warn("on other hosts: electop --history " + url)
	if r.token != "" {
		r.warn("FILE is a copy of " + r.tokenFile + "; a CA of the system, or of --history-ca-file, must have signed the certificate")
	}
	return nil
}

// health returns nil while all elections are observed and all events are stored. Otherwise it returns the reasons. If
// there are several datacenters, it names the datacenters that are not observed.
func (r *recording) health() error {
	var reasons []string
	for i, l := range r.all {
		if err := unobserved(r.observed.all[i].Snapshot()); err != nil {
			reasons = append(reasons, l.fail(err).Error())
		}
	}
	for _, rec := range r.recs { // all writers use one file, so one reason is enough
		if problem := rec.problem(); problem != "" {
			reasons = append(reasons, problem)
			break
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return errors.New(strings.Join(reasons, "; "))
}

// unobserved returns why some elections of a datacenter are not observed. It returns nil if all are observed.
func unobserved(s *election.Snapshot) error {
	switch c := s.Connection; {
	case c.State == election.Lost:
		return fmt.Errorf("the connection to %s has been lost since %s: %s", s.Store, election.FormatTime(c.Since), c.Error)
	case c.State != election.Live || !s.Loaded:
		return errors.New("the elections have not been read yet")
	case s.CountStale() > 0:
		return fmt.Errorf("the data of %s is stale: some queries fail", election.Plural(s.CountStale(), "election"))
	}
	return nil
}
