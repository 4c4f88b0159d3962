//go:build unix

package holders

import (
	"context"
	"encoding/json"
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

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

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
	must(t, err)
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

// electop returns a command of electop on the election.
func (r *race) electop(args ...string) *exec.Cmd {
	r.t.Helper()
	api := "3"
	if r.v2 {
		api = "2"
	}
	args = append([]string{"--endpoints", r.etcd.Endpoints()[0], "--etcd-api", api, "-k", r.key, "--history", "off"}, args...)
	return electop(r.t.TempDir(), args...)
}

// listed returns the leases of the candidates in their order, as electop shows them.
func (r *race) listed() (leases []string) {
	r.t.Helper()
	var e struct {
		Session    struct{ ID string }
		Candidates []struct {
			Exact   bool
			Session struct{ ID string }
		}
	}
	if json.Unmarshal([]byte(execute(r.t, r.electop("show", r.key, "-o", "json")).stdout), &e) != nil || e.Session.ID == "" {
		return nil
	}
	leases = append(leases, e.Session.ID)
	for _, c := range e.Candidates {
		if c.Exact {
			leases = append(leases, c.Session.ID)
		}
	}
	return leases
}

// ends waits until electop reports why the lease's term ended. A queue has a new leader in the same moment.
func (r *race) ends(watch *process, lease, cause string, next []string) {
	r.t.Helper()
	events := map[string]map[string]string{}
	await(r.t, cause, func() bool {
		for line := range strings.Lines(watch.text()) {
			var e struct{ Type, Session, Cause, Time string }
			if json.Unmarshal([]byte(line), &e) == nil {
				events[e.Type+" "+e.Session] = map[string]string{"cause": e.Cause, "time": e.Time}
			}
		}
		return events["explained "+lease] != nil
	})
	got := events["explained "+lease]["cause"]
	if got != cause && (r.v2 || got != cause+"_or_destroyed") { // the v3 API does not report the cause, and the machine may be slow
		r.t.Errorf("cause %q, want %q: %s", got, cause, watch.text())
	}
	if len(next) > 0 && (events["vacated "+lease] == nil || events["elected "+next[0]]["time"] != events["vacated "+lease]["time"]) {
		r.t.Errorf("%s does not lead at once: %s", next[0], watch.text())
	}
}

// leads reports whether a candidate says that it leads.
func (r *race) leads(i int) bool {
	text := r.processes[i].text()
	return strings.Contains(text, "leads") || strings.Contains(text, r.key+"/")
}

func TestEtcdHolders(t *testing.T) {
	t.Parallel()
	v2 := sync.OnceValue(func() *etcdtest.Cluster { return etcdtest.Start(t, 1, etcdtest.WithV2()) })
	for software, s := range etcdSoftware {
		t.Run(software, func(t *testing.T) {
			r := &race{t: t, v2: s.v2}
			if s.v2 {
				etcdtest.NeedsV2(t)
				r.etcd = v2()
			} else {
				r.etcd = etcdtest.Shared(t)
			}
			t.Parallel()
			name := filepath.Base(filepath.Dir(t.TempDir()))
			r.key = fmt.Sprintf(s.key, name)
			for i := range 3 {
				r.processes = append(r.processes, start(t, s.start(t, r.etcd.Endpoints()[0], name, fmt.Sprintf("node-%d", i))))
				if i == 0 || !s.single {
					var got []string
					await(t, "another candidate", func() bool { got = r.listed(); return len(got) == i+1 })
					r.leases = append(r.leases, got[i])
				}
			}
			await(t, "a leader", func() bool { return r.leads(0) })
			if got := r.listed(); !slices.Equal(got, r.leases) {
				t.Errorf("listed %v, want %v", got, r.leases)
			}
			if software == "etcdctl elect" && os.Getenv("ELECTOP_FAULTS") != "all" {
				return // its TTL is always 60 s
			}
			watch := start(t, r.electop("watch", "-o", "json"))
			watch.says("elected")
			r.processes[0].kill()
			await(t, "another leader", func() bool { return r.leads(1) || r.leads(2) })
			if r.ends(watch, r.leases[0], "session_expired", r.leases[1:]); !s.single {
				if got := r.listed(); !slices.Equal(got, r.leases[1:]) || !r.leads(1) {
					t.Errorf("listed %v, want %v", got, r.leases[1:])
				}
			}
			if !s.v2 {
				return
			}
			if got := execute(t, r.electop("release", r.key, "--yes", "--wait", "30s")); got.code != 0 {
				t.Error(got)
			}
			r.processes[1].says("unelected")
			await(t, "the old leader as the last", func() bool { return len(r.listed()) == 2 })
			r.ends(watch, r.leases[1], "released", r.leases[2:])
		})
	}
}
