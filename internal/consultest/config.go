package consultest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// kind describes the agents to start.
type kind struct {
	dev     bool
	servers int
	// client starts a client agent that joins the servers at the addresses in join.
	client bool
	join   []string
	// wan enables federation with the servers of other datacenters at the addresses in joinWAN.
	wan     bool
	joinWAN []string
}

// writeConfig writes the agent's configuration to dir and returns the command line of the agent.
func writeConfig(dir string, k kind, set settings, p ports, join []string) ([]string, error) {
	cfg := map[string]any{
		"node_name":            set.node,
		"datacenter":           set.datacenter,
		"bind_addr":            "127.0.0.1",
		"client_addr":          "127.0.0.1",
		"disable_update_check": true,
		"log_level":            "INFO",
		"performance":          map[string]any{"raft_multiplier": 1},
		"peering":              map[string]any{"enabled": false},
		"connect":              map[string]any{"enabled": false},
		"ports": map[string]any{
			"http": p.http, "serf_lan": p.serf, "server": p.server,
			"https": -1, "dns": -1, "grpc": -1, "grpc_tls": -1, "serf_wan": -1,
		},
	}
	if k.wan {
		cfg["ports"].(map[string]any)["serf_wan"] = p.wan
		cfg["retry_join_wan"], cfg["retry_interval_wan"] = k.joinWAN, "1s"
	}
	args := []string{"agent"}
	if k.dev {
		args = append(args, "-dev")
	} else {
		if !k.client {
			cfg["server"] = true
			cfg["bootstrap_expect"] = k.servers
		}
		cfg["data_dir"] = filepath.Join(dir, "data")
		if len(join) > 0 {
			cfg["retry_join"] = join
			cfg["retry_interval"] = "1s"
		}
	}
	text, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		return nil, err
	}
	for i, piece := range append([]string{string(text)}, set.extra...) {
		ext := "hcl"
		if strings.HasPrefix(strings.TrimSpace(piece), "{") {
			ext = "json"
		}
		path := filepath.Join(dir, fmt.Sprintf("config-%d.%s", i, ext))
		if err := os.WriteFile(path, []byte(piece), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "-config-file="+path)
	}
	return args, nil
}
