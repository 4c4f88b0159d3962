package cli

import (
	"net"

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
