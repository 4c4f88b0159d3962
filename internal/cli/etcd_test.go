package cli

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/internal/etcdtest"
)

// candidate adds a candidate to a queue.
func candidate(t *testing.T, etcd *etcdtest.Cluster, queue, value string) (key string) {
	t.Helper()
	lease, err := etcd.Grant(t.Context(), 600)
	if err == nil {
		key = fmt.Sprintf("%s/%x", queue, lease.ID)
		_, err = etcd.Put(t.Context(), key, value, clientv3.WithLease(lease.ID))
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestCommandsOnEtcd(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	withoutConfig(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	first := candidate(t, etcd, "/svc/web", "web-1")
	candidate(t, etcd, "/svc/web", "web-2")
	candidate(t, etcd, "jobs", "")
	t.Setenv("ETCDCTL_ENDPOINTS", strings.Join(etcd.Endpoints(), ","))
	list := runPlain(t, "list").must(t, exitOK).out
	has(t, list, "/svc/web", "web-1", "10m0s", "jobs")
	has(t, runPlain(t, "show", "/svc/web", "-o", "json").must(t, exitOK).out, `"leader": "web-1"`, `"ttl": "10m0s"`, `"modify_index": 2`)
	has(t, runPlain(t, "wait", "/svc/web", "--leader", "web-1").must(t, exitOK).out, "web-1")
	eventually(t, "a timeout", func() bool {
		return strings.Contains(runPlain(t, "wait", "/svc/web", "--vacant", "--timeout", "100ms").must(t, exitFailed).errOut, "timeout")
	})
	runPlain(t, "show", "missing").must(t, exitNoElection)
	lacks(t, runPlain(t, "list", "-k", "missing/*").must(t, exitOK).out, "NODE", "LOCK-DELAY")
	has(t, runPlain(t, "doctor").must(t, exitOK).out, "this user may read and write all keys")
	watch := (&testConsul{t: t}).background("watch", "-k", "/svc/*")
	eventually(t, "an event", func() bool { return strings.Contains(watch.out.String(), "initial state") })
	if _, err := etcd.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an event", func() bool { return strings.Contains(watch.out.String(), "web-2") })
	eventually(t, "an event", func() bool { return strings.Contains(watch.out.String(), "released") })
	watch.stop().must(t, exitOK)
	has(t, runPlain(t, "history").must(t, exitOK).out, "vacated", "web-2", "released")
	for _, c := range []struct{ command, want string }{
		{"drain node-1", "etcd does not record the node"}, {"show web --probe", "etcd has no lock-delay"},
		{"list --datacenter dc1", "etcd has no datacenters"}, {"list --http-addr h --endpoints e", "mutually exclusive"},
		{"list --endpoints h --user root", "password is missing"}, {"list --endpoints=", "--endpoints: the address of etcd is missing"}, {"list --endpoints a,", "an address is empty"}, {"list --endpoints http://root:secret@h", "must not contain a user or password"}, {"list --endpoints h --cert c", "--key-file"},
	} {
		has(t, runPlain(t, strings.Fields(c.command)...).must(t, exitUsage).errOut, c.want)
	}
	runPlain(t, "release", "--yes", "/svc/web").must(t, exitFailed)
	has(t, runPlain(t, "list", "--endpoints", "127.0.0.1:1").must(t, exitFailed).errOut, "cannot reach etcd", "connection refused")
	etcd.EnableAuth(t)
	etcd.AddUser(t, "reader", "/svc/", clientv3.PermissionType(clientv3.PermRead))
	has(t, runPlain(t, "list", "--user", "reader:reader").must(t, exitDenied).errOut, "permission denied", "select others with -k")
	has(t, runPlain(t, "list", "--user", "reader:reader", "-k", "/svc/*").must(t, exitOK).out, "web-2")
	t.Setenv("ETCDCTL_ENDPOINTS", "")
	has(t, runPlain(t, "list", "--etcd-api", "3").must(t, exitUsage).errOut, "--etcd-api: the address of etcd is missing; use --endpoints")
	t.Setenv("ETCDCTL_ENDPOINTS", strings.Join(etcd.Endpoints(), ","))
	t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:1") // an address of Consul overrides the variable of etcdctl
	has(t, runPlain(t, "list").must(t, exitFailed).errOut, "cannot reach Consul")
}

func TestDiscoverOnEtcd(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	withoutConfig(t)
	t.Setenv("ETCDCTL_ENDPOINTS", strings.Join(etcd.Endpoints(), ","))
	for _, queue := range []string{"/svc/web", "/svc/web", "/svc/mail", "/registry/jobs", "db"} {
		candidate(t, etcd, queue, "x")
	}
	lease, err := etcd.Grant(t.Context(), 600)
	for _, key := range []string{"/service/pg/leader", "/locks/x", "/locks/y", "//z"} {
		if err == nil {
			_, err = etcd.Put(t.Context(), key, "a", clientv3.WithLease(lease.ID))
		}
	}
	if err == nil {
		_, err = etcd.Put(t.Context(), "/svc/config", "")
	}
	if err != nil {
		t.Fatal(err)
	}
	found := runPlain(t, "discover").must(t, exitOK).out
	has(t, found, "/svc/*\n", "2 locked   queue   watched", "Patroni   not watched", "/locks/*\n", "key with a lease   not watched",
		"-k ///z -k '/locks/*' -k /service/pg/leader -k '/svc/*' -k db")
	if strings.Contains(found, "registry") {
		t.Error(found)
	}
	has(t, runPlain(t, "discover", "/svc/", "-o", "json").must(t, exitOK).out, `"scanned": 4`, `"queue": 2`)
	has(t, runPlain(t, "discover", "/registry/").must(t, exitOK).out, "/registry/jobs")
	has(t, runPlain(t, "discover", "-k", "**", "-k", "/locks/x").must(t, exitOK).out, "1 of 2 watched")
	list := runPlain(t, "list", "-k", "**", "-k", "/locks/x").must(t, exitOK).out
	if has(t, list, "/svc/mail", "/locks/x"); strings.Contains(list, "/locks/y") {
		t.Error(list)
	}
	etcd.EnableAuth(t)
	etcd.AddUser(t, "reader", "/svc/", clientv3.PermissionType(clientv3.PermRead))
	runPlain(t, "discover", "--user", "reader:reader").must(t, exitDenied)
	has(t, runPlain(t, "discover", "/svc/", "--user", "reader:reader").must(t, exitOK).out, "/svc/*")
}

func TestDoctorShowsTheMembersOfEtcd(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	withoutConfig(t)
	t.Setenv("ETCDCTL_ENDPOINTS", strings.Join(etcd.Endpoints(), ","))
	has(t, runPlain(t, "doctor").must(t, exitOK).out, "member ", "revision 1, 0 Raft entries behind, leader")
	alarm := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE}
	if _, err := pb.NewMaintenanceClient(etcd.ActiveConnection()).Alarm(t.Context(), alarm); err != nil {
		t.Fatal(err)
	}
	has(t, runPlain(t, "doctor").must(t, exitOK).out, "limited", "leader, alarm:NOSPACE")
	etcd.EnableAuth(t)
	etcd.AddUser(t, "reader", "/svc/", clientv3.PermissionType(clientv3.PermRead))
	has(t, runPlain(t, "doctor", "-o", "json", "--user", "reader:reader", "-k", "/svc/*").must(t, exitOK).out, `"problem": "alarm:NOSPACE"`, `"Read": true`)
	has(t, runPlain(t, "doctor", "--user", "reader:reader").must(t, exitDenied).out, "keys **", "may not read all of them")
	runPlain(t, "doctor", "--user", "reader:wrong").must(t, exitDenied)
	has(t, runPlain(t, "doctor", "--endpoints", "127.0.0.1:1").must(t, exitFailed).errOut, "connection refused")
}

// typed runs a command whose user answers the question.
func typed(t *testing.T, answer string, args ...string) result {
	t.Helper()
	var out, errOut buffer
	code := run(t.Context(), deps{stdin: strings.NewReader(answer + "\n"), stdout: &out, stderr: &errOut, interactive: true}, args)
	return result{code: code, out: out.String(), errOut: errOut.String()}
}

func TestActionsOnEtcd(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	withoutConfig(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("ETCDCTL_ENDPOINTS", strings.Join(etcd.Endpoints(), ","))
	first := candidate(t, etcd, "/svc/web", "web-1")
	second := candidate(t, etcd, "/svc/web", "web-2")
	lease := func(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
	exists := func(key string, want bool) {
		t.Helper()
		if got, err := etcd.Get(t.Context(), key); err != nil || (got.Count > 0) != want {
			t.Errorf("%s exists: %v, %v", key, !want, err)
		}
	}
	number, _ := strconv.ParseInt(lease(first), 16, 64)
	if _, err := etcd.Put(t.Context(), "/other", "", clientv3.WithLease(clientv3.LeaseID(number))); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"release --yes /svc/web", "drill --yes /svc/web"} {
		has(t, runPlain(t, strings.Fields(command)...).must(t, exitFailed).errOut, "No client of etcd's v3 API notices", "a signal to the holder's process")
	}
	has(t, runPlain(t, "destroy", "--yes", "--session", lease(second)).must(t, exitFailed).errOut, "leads no election")
	has(t, runPlain(t, "destroy", "--yes", "--session", "1").must(t, exitFailed).errOut, "the lease does not exist")
	typed(t, "n", "destroy", "/svc/web").must(t, exitFailed)
	exists(first, true)

	watch := (&testConsul{t: t}).background("watch")
	eventually(t, "an event", func() bool { return strings.Contains(watch.out.String(), "initial state") })
	done := typed(t, "y", "destroy", "--wait", "20s", "/svc/web").must(t, exitOK)
	has(t, done.errOut, "Next         web-2", "/other", "/svc/web is deleted with its value", "of its lease at its next renewal", "two processes may act as leader")
	has(t, done.out, "web-2", "the session also lost /other")
	exists(first, false)
	exists("/other", false)
	eventually(t, "an event", func() bool { return strings.Contains(watch.out.String(), "operator_destroy") })
	watch.stop().must(t, exitOK)
	has(t, runPlain(t, "history", "-o", "json").must(t, exitOK).out, `"operator_destroy"`, "destroyed with electop by "+userAtHost())
	runPlain(t, "destroy", "--yes", "--session", lease(second)).must(t, exitOK)
	exists(second, false)

	mutex := candidate(t, etcd, "jobs", "")
	has(t, runPlain(t, "destroy", "--yes", "jobs").must(t, exitFailed).errOut, "type the name")
	typed(t, "y", "destroy", "jobs").must(t, exitFailed)
	exists(mutex, true)
	has(t, typed(t, "jobs", "destroy", "jobs").must(t, exitOK).errOut, "Type jobs to confirm", "etcdctl lock with a command never notices")
	exists(mutex, false)
	patroni, err := etcd.Grant(t.Context(), 30)
	if err == nil {
		_, err = etcd.Put(t.Context(), "/service/batman/leader", "pg-1", clientv3.WithLease(patroni.ID))
	}
	if err != nil {
		t.Fatal(err)
	}
	has(t, runPlain(t, "destroy", "--yes", "--preset", "patroni", "batman").must(t, exitFailed).errOut, "patronictl switchover")
	exists("/service/batman/leader", true)
}

func TestTheFixOfABlockedQueueIsDescribed(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	if _, err := etcd.Put(t.Context(), "jobs/zzz", ""); err != nil {
		t.Fatal(err)
	}
	candidate(t, etcd, "jobs", "web-1")
	o := &options{file: &configFile{}, clusterFlags: clusterFlags{etcd: etcdFlags{endpoints: strings.Join(etcd.Endpoints(), ",")}}}
	defer o.opened.close()
	l, err := o.readOne(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &dashboard{o: o, datacenters: []*datacenter{{lookup: l}}}
	if d := b.Diagnose(t.Context(), l.snapshot, l.snapshot.Elections[0]); d.Fix == nil || !strings.Contains(d.Fix.Why, "jobs/zzz has no lease") {
		t.Errorf("%+v", d.Fix)
	}
}
