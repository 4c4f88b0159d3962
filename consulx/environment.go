package consulx

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hashicorp/consul/api"

	"electop/election/sanitize"
)

// checkEnvironment rejects invalid values for which Consul's library only prints a warning. With an invalid
// CONSUL_HTTP_SSL_VERIFY, the library does not verify certificates.
func checkEnvironment() error {
	for _, name := range []string{api.HTTPSSLEnvName, api.HTTPSSLVerifyEnvName} {
		text := os.Getenv(name)
		if _, err := strconv.ParseBool(text); text != "" && err != nil {
			return fmt.Errorf("%s=%s is neither true nor false", name, sanitize.Line(text, 40))
		}
	}
	return nil
}

// findToken returns the first token that is not empty. It checks, in this order: the configured file, the configured
// token, the file and the token that environment variables specify.
func findToken(cfg Config, env *api.Config) (string, error) {
	for _, from := range []struct{ file, token string }{{cfg.TokenFile, cfg.Token}, {env.TokenFile, env.Token}} {
		if from.file != "" {
			text, err := os.ReadFile(from.file)
			if err != nil {
				return "", fmt.Errorf("token file: %w", err)
			}
			if token := strings.TrimSpace(string(text)); token != "" {
				return token, nil
			}
		}
		if from.token != "" {
			return from.token, nil
		}
	}
	return "", nil
}

// passwords returns the passwords of credentials and of those in the environment variables for HTTP proxies, plain and as
// in an Authorization header.
func passwords(auths ...*api.HttpBasicAuth) (all []string) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		// ParseAddress may return credentials even if it fails.
		t, _ := parseAddress(os.Getenv(name), "http")
		auths = append(auths, t.Auth())
	}
	for _, auth := range auths {
		if auth != nil {
			all = append(all, cmp.Or(auth.Password, auth.Username), base64.StdEncoding.EncodeToString([]byte(auth.Username+":"+auth.Password)))
		}
	}
	return all
}

func fill(conf *api.Config, cfg Config) {
	conf.Datacenter = cfg.Datacenter
	conf.Namespace = cmp.Or(cfg.Namespace, conf.Namespace)
	conf.Partition = cmp.Or(cfg.Partition, conf.Partition)
	t := &conf.TLSConfig
	t.CAFile = cmp.Or(cfg.CAFile, t.CAFile)
	t.CAPath = cmp.Or(cfg.CAPath, t.CAPath)
	t.CertFile = cmp.Or(cfg.ClientCert, t.CertFile)
	t.KeyFile = cmp.Or(cfg.ClientKey, t.KeyFile)
	t.Address = cmp.Or(cfg.TLSServerName, t.Address)
}
