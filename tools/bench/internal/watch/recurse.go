package watch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hashicorp/consul/api"
)

// recurse is the simplest watcher: one blocking query over all keys. It compares each response with the previous one.
func recurse(ctx context.Context, addr string, plain bool, out io.Writer) error {
	cfg := &api.Config{Address: addr}
	if plain {
		cfg.HttpClient = &http.Client{Transport: &http.Transport{DisableCompression: true}}
	}
	client, err := api.NewClient(cfg)
	if err != nil {
		return err
	}
	var index uint64
	known := map[string]uint64{}
	for first := true; ; first = false {
		q := (&api.QueryOptions{WaitIndex: index, WaitTime: time.Minute}).WithContext(ctx)
		pairs, meta, err := client.KV().List(KeyPrefix, q)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the parent ended it
		case err != nil:
			return err
		}
		index = meta.LastIndex
		if err := printChanged(out, known, pairs, first); err != nil {
			return err
		}
	}
}

// printChanged prints the value of each pair whose ModifyIndex changed.
func printChanged(out io.Writer, known map[string]uint64, pairs api.KVPairs, first bool) error {
	for _, p := range pairs {
		if known[p.Key] == p.ModifyIndex {
			continue
		}
		known[p.Key] = p.ModifyIndex
		if first {
			continue
		}
		if _, err := fmt.Fprintf(out, "%s\n", p.Value); err != nil {
			return err
		}
	}
	if !first {
		return nil
	}
	_, err := fmt.Fprintf(out, "ready %d\n", len(pairs))
	return err
}
