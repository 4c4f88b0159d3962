//go:build unix

package holders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"electop/etcdx"
	"electop/internal/consultest"
	"electop/internal/etcdtest"
)

// asEtcd is the environment variable that makes this test binary a candidate in etcd: KIND ENDPOINT NAME VALUE.
const asEtcd = "HOLDERS_AS_ETCD"

const etcdTTL = "2" // seconds, the shortest TTL of etcd

// holdEtcd competes with Go's concurrency package until the process is killed.
func holdEtcd(how string) error {
	args := strings.Fields(how)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{args[1]}})
	if err != nil {
		return err
	}
	ttl, _ := strconv.Atoi(etcdTTL)
	session, err := concurrency.NewSession(client, concurrency.WithTTL(ttl))
	if err != nil {
		return err
	}
	if args[0] == "election" {
		err = concurrency.NewElection(session, args[2]).Campaign(context.Background(), args[3])
	} else {
		err = concurrency.NewMutex(session, args[2]).Lock(context.Background())
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "leads")
	<-session.Done()
	return errors.New("the lease ended")
}

// race is an election of candidates in etcd, which started in the order of leases.
type race struct {
	t         *testing.T
	etcd      *etcdtest.Cluster
	v2        bool
	key       string // of the election
	processes []*process
	leases    []string
}

// etcdSoftware returns the commands that start a candidate, by the software. The value of a command's candidate is
// empty for locks. An election's key is that of the software, which contains a name.
var etcdSoftware = map[string]struct {
	key    string
	single bool // waiters leave no trace
	v2     bool
	start  func(t *testing.T, endpoint, name, value string) *exec.Cmd
}{
	"etcdctl elect": {key: "%s", start: func(t *testing.T, endpoint, name, value string) *exec.Cmd {
		return etcdctl(t, endpoint, "elect", name, value)
	}},
	"etcdctl lock": {key: "%s", start: func(t *testing.T, endpoint, name, _ string) *exec.Cmd {
		return etcdctl(t, endpoint, "lock", "--ttl", etcdTTL, name)
	}},
	"Go election": {key: "%s", start: func(_ *testing.T, endpoint, name, value string) *exec.Cmd {
		return golang("election", endpoint, name, value)
	}},
	"Go mutex": {key: "%s", start: func(_ *testing.T, endpoint, name, value string) *exec.Cmd {
		return golang("mutex", endpoint, name, value)
	}},
	"npm election": {key: "election/%s", start: func(t *testing.T, endpoint, name, value string) *exec.Cmd {
		return npmEtcd(t, "election", endpoint, name, value)
	}},
	"npm lock": {key: "%s", single: true, start: func(t *testing.T, endpoint, name, value string) *exec.Cmd {
		return npmEtcd(t, "lock", endpoint, name, value)
	}},
	"npm etcd-leader": {key: "/jobs/%s", v2: true, start: func(t *testing.T, endpoint, name, value string) *exec.Cmd {
		return npmEtcd(t, "leader", endpoint, "/jobs/"+name, value)
	}},
	"Python lock": {key: "/locks/%s", single: true, start: func(t *testing.T, endpoint, name, _ string) *exec.Cmd {
		needsPython(t, "etcd3")
		host, port, _ := strings.Cut(strings.TrimPrefix(endpoint, "http://"), ":")
		return exec.Command("/usr/bin/python3", filepath.Join("testdata", "etcd-candidate.py"), host, port, name, etcdTTL)
	}},
}

func etcdctl(t *testing.T, endpoint string, args ...string) *exec.Cmd {
	t.Helper()
	binary, err := consultest.FindBinary("", "etcdctl")
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(binary, append([]string{"--endpoints", endpoint}, args...)...)
}

func golang(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = cleanEnvironment(asEtcd + "=" + strings.Join(args, " "))
	return cmd
}

func npmEtcd(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("node", append([]string{filepath.Join("testdata", "etcd-candidate.js")}, append(args, etcdTTL)...)...)
	cmd.Env = cleanEnvironment("NODE_PATH=" + nodeModules(t, "etcd-leader"))
	return cmd
}

// listed returns the leases of the candidates in their order.
func (r *race) listed() (leases []string) {
	r.t.Helper()
	var lister interface {
		List(ctx context.Context, ranges ...etcdx.Range) (etcdx.Listed, error)
		Close()
	}
	var err error
	if r.v2 {
		lister, err = etcdx.NewV2(etcdx.Options{Endpoints: r.etcd.Endpoints()})
	} else {
		lister, err = etcdx.New(etcdx.Options{Endpoints: r.etcd.Endpoints()})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	defer lister.Close()
	got, err := lister.List(r.t.Context(), etcdx.Prefix(r.key))
	if err != nil {
		r.t.Fatal(err)
	}
	slices.SortFunc(got.KVs, func(a, b *mvccpb.KeyValue) int { return int(a.CreateRevision - b.CreateRevision) })
	for _, kv := range got.KVs {
		leases = append(leases, strconv.FormatInt(kv.Lease, 16))
	}
	return leases
}

// leads reports whether a candidate says that it leads.
func (r *race) leads(i int) bool {
	text := r.processes[i].text()
	return strings.Contains(text, "leads") || strings.Contains(text, r.key+"/")
}

func TestEtcdHolders(t *testing.T) {
	t.Parallel()
	v2 := sync.OnceValue(func() *etcdtest.Cluster {
		etcdtest.NeedsV2(t)
		return etcdtest.Start(t, 1, etcdtest.WithV2())
	})
	for software, s := range etcdSoftware {
		t.Run(software, func(t *testing.T) {
			r := &race{t: t, v2: s.v2}
			if r.etcd = v2(); !s.v2 {
				r.etcd = etcdtest.Shared(t)
			}
			t.Parallel()
			name := filepath.Base(filepath.Dir(t.TempDir()))
			r.key = fmt.Sprintf(s.key, name)
			for i := range 3 {
				r.processes = append(r.processes, start(t, s.start(t, r.etcd.Endpoints()[0], name, fmt.Sprintf("node-%d", i))))
				if i == 0 || !s.single {
					await(t, "another candidate", func() bool { return len(r.listed()) == i+1 })
					r.leases = append(r.leases, r.listed()[i])
				}
			}
			await(t, "a leader", func() bool { return r.leads(0) })
			if got := r.listed(); !slices.Equal(got, r.leases) {
				t.Errorf("listed %v, want %v", got, r.leases)
			}
			if software == "etcdctl elect" && os.Getenv("ELECTOP_FAULTS") != "all" {
				return // its TTL is always 60 s
			}
			r.processes[0].kill()
			t.Logf("another leader after %v", await(t, "another leader", func() bool { return r.leads(1) || r.leads(2) }))
			if got := r.listed(); !s.single && (!slices.Equal(got, r.leases[1:]) || !r.leads(1)) {
				t.Errorf("listed %v, want %v", got, r.leases[1:])
			}
		})
	}
}
