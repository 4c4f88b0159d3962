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
	must(t, err)
	return key
}

// stepEtcd runs a step on an etcd.
func (s *script) stepEtcd(name string, args []string) error {
	s.T.Helper()
	ctx := s.T.Context()
	switch name {
	case "lease":
		lease, err := s.etcd.Grant(ctx, 600)
		if err == nil {
			s.vars[args[0]] = fmt.Sprintf("%x", lease.ID)
		}
		return err
	case "key":
		lease, _ := strconv.ParseInt(args[1], 16, 64) // 0 if there is none
		_, err := s.etcd.Put(ctx, args[0], args[2], clientv3.WithLease(clientv3.LeaseID(lease)))
		return err
	case "remove":
		_, err := s.etcd.Delete(ctx, args[0])
		return err
	case "reader":
		s.etcd.AddReader(s.T, "reader", args[0])
		return nil
	case "alarm":
		alarm := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE}
		_, err := pb.NewMaintenanceClient(s.etcd.ActiveConnection()).Alarm(ctx, alarm)
		return err
	}
	got, err := s.etcd.Get(ctx, args[0])
	if err == nil && (got.Count > 0) != (name == "present") {
		err = fmt.Errorf("%s is not %s", args[0], name)
	}
	return err
}

// An address of Consul overrides the variables of etcdctl.
func TestTheEnvironmentSelectsTheStore(t *testing.T) {
	withoutConfig(t)
	runPlain(t, "list", "--etcd-api", "3").must(exitUsage).hasErr("--etcd-api: the address of etcd is missing; use --endpoints")
	t.Setenv("ETCDCTL_ENDPOINTS", "127.0.0.1:1")
	runPlain(t, "list").must(exitFailed).hasErr("cannot reach etcd")
	t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:1")
	runPlain(t, "list").must(exitFailed).hasErr("cannot reach Consul")
}

func TestTheFixOfABlockedQueueIsDescribed(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	_, err := etcd.Put(t.Context(), "jobs/zzz", "")
	must(t, err)
	candidate(t, etcd, "jobs", "web-1")
	o := &options{file: &configFile{}, clusterFlags: clusterFlags{etcd: etcdFlags{endpoints: strings.Join(etcd.Endpoints(), ",")}}}
	defer o.close()
	l, err := o.readOne(t.Context(), false)
	must(t, err)
	b := &dashboard{options: o, datacenters: []*datacenter{{lookup: l}}}
	if d := b.Diagnose(t.Context(), l.snapshot, l.snapshot.Elections[0]); d.Fix == nil || !strings.Contains(d.Fix.Why, "jobs/zzz is the first of the queue") {
		t.Errorf("%+v", d.Fix)
	}
}
