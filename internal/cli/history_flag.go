package cli

import (
	"cmp"
	"errors"
	"os"
	"strconv"
	"time"

	"electop/consulx"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

const (
	historyOff         = "off"
	defaultHistoryText = "$XDG_STATE_HOME/electop/ADDRESS.db"
	day                = 24 * time.Hour
)

// historyFlag is the value of --history.
type historyFlag string

func (h *historyFlag) String() string { return string(*h) }

func (h *historyFlag) Type() string { return "FILE|URL|off" }

func (h *historyFlag) Set(value string) error {
	if value == "" {
		return errors.New("the value is empty")
	}
	*h = historyFlag(value)
	return nil
}

// historyPath returns the file of the history. It returns "" if the history is off or a recorder stores it.
func (o *options) historyPath(client *consulx.Client) (string, error) {
	switch {
	case o.history == historyOff, isURL(o.history):
		return "", nil
	case o.history == "":
		return sqlite.DefaultPath(clusterName(client, o.consul))
	}
	return o.history, nil
}

// clusterName returns the address of the agent, followed by the partition and the namespace if these are set.
func clusterName(client *consulx.Client, c consulx.Config) string {
	name := client.Address()
	for _, part := range []string{
		cmp.Or(c.Partition, os.Getenv("CONSUL_PARTITION")), cmp.Or(c.Namespace, os.Getenv("CONSUL_NAMESPACE")),
	} {
		if part != "" {
			name += "," + part
		}
	}
	return name
}

// keepFlag is the value of --keep, a duration in Go's format or in days. It is nil until the flag is set.
type keepFlag struct{ keep **time.Duration }

func (k *keepFlag) String() string {
	if k.keep == nil || *k.keep == nil {
		return formatDays(sqlite.DefaultKeep)
	}
	return formatDays(**k.keep)
}

func (k *keepFlag) Type() string { return "duration" }

func (k *keepFlag) Set(value string) error {
	parsed, err := history.ParseDays(value)
	if err == nil {
		*k.keep = &parsed
	}
	return err
}

func formatDays(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	return d.String()
}
