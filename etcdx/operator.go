package etcdx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// Operator ends terms in a cluster.
type Operator struct {
	api  Reader
	note func(election.OperatorAction)
}

// NewOperator returns an operator. note, if not nil, receives every action twice: before it starts and when it has ended.
func NewOperator(api API, note func(election.OperatorAction)) *Operator {
	return &Operator{Reader{api}, note}
}

// actionLimit is the timeout of the reads and the write of an action, and of the reads after it.
const actionLimit = 10 * time.Second

// Rights returns no rights: etcd checks them itself.
func (*Operator) Rights(context.Context, election.Target) (election.MissingRules, error) {
	return nil, nil
}

// Release deletes the key of a leader; see [API].
func (op *Operator) Release(ctx context.Context, t election.Target) error {
	a := election.OperatorAction{Kind: election.ActionRelease, Key: t.Key, Session: t.Session, CreateIndex: t.CreateIndex, LockIndex: t.LockIndex}
	return a.Run(time.Now, op.note, func() error { return op.api.Release(ctx, t) })
}

// DestroySession revokes a lease, which deletes its keys. It fails with [election.ErrMoved] if the lease does not have
// exactly the keys that were shown or no longer leads, and with [election.ErrRefused] if Patroni runs. After
// [election.ErrUnknown], the lease may have been revoked.
func (op *Operator) DestroySession(ctx context.Context, d election.Destroy) error {
	id, err := leaseID(d.Session)
	if err != nil {
		return failure{err, election.ErrNoSession}
	}
	// The first ctrl-c lets a write in progress end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actionLimit)
	defer cancel()
	if err := op.check(ctx, d); err != nil {
		return err
	}
	return election.OperatorAction{Kind: election.ActionDestroy, Session: d.Session}.Run(time.Now, op.note, func() error { return op.revoke(ctx, id) })
}

// check compares a lease and the leader's key with what was shown, and refuses if any election of the lease refuses.
func (op *Operator) check(ctx context.Context, d election.Destroy) error {
	held, err := op.api.Holdings(ctx, []string{d.Session}, nil)
	if err != nil {
		return err
	}
	var keys []string
	for _, p := range held {
		keys = append(keys, p.Key)
	}
	slices.Sort(keys)
	if !slices.Equal(keys, slices.Sorted(slices.Values(d.Keys))) {
		return moved("the lease now has other keys than those shown: %s", cmp.Or(strings.Join(keys, ", "), "none"))
	}
	var ps election.Patterns
	for _, key := range append(keys, d.Key) {
		if key != "" {
			ps = append(ps, election.KeyPattern(key))
		}
	}
	if ps == nil {
		return nil
	}
	s, err := op.api.Once(ctx, ps, election.HistoryRead{})
	if err != nil {
		return err
	}
	if e := s.Find(election.KeyID(d.Key)); d.Key != "" && (e == nil || !e.Pair.HeldBy(d.Session) || e.Pair.CreateIndex != d.CreateIndex) {
		return moved("%s is no longer held by this key", d.Key)
	}
	for _, e := range s.Elections {
		if !e.Pair.HeldBy(d.Session) {
			continue
		}
		around := Surroundings(ctx, op.api, e.Key())
		if around.SiblingsErr != "" {
			return failure{fmt.Errorf("%s; nothing was written", around.SiblingsErr), election.ErrIncomplete}
		}
		f := insight.EffectOf(election.ActionDestroy, e, &around, -1)
		member := f.Kind == insight.HolderPatroniLease && strings.HasPrefix(e.Key(), election.Parent(d.Key)+"members/")
		if f.Typed && d.Key != "" && d.Key != e.Key() && !member { // the user typed another name, or none
			f.Refusal = cmp.Or(f.Refusal, "the lease also holds "+sanitize.Line(e.Key(), errorLength/2)+"; to end both, destroy that one")
		}
		if f.Refusal != "" {
			return failure{errors.New(f.Refusal), election.ErrRefused}
		}
	}
	return nil
}

func moved(format, key string) error {
	return failure{fmt.Errorf(format+"; nothing was written", sanitize.Line(key, errorLength/2)), election.ErrMoved}
}

const gone = "the lease does not exist"

// ended returns the error of a request about one lease.
func ended(err error) error {
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return failure{errors.New(gone), election.ErrNoSession}
	}
	return classify(err, nil)
}

// revoke revokes a lease, and makes sure afterwards that it has ended: etcd deletes its keys at the same revision.
func (op *Operator) revoke(ctx context.Context, id int64) error {
	failed := op.api.Revoke(ctx, id)
	if failed != nil && !errors.Is(failed, election.ErrUnknown) {
		return ended(failed)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actionLimit)
	defer cancel()
	_, err := op.api.Lease(ctx, id, false)
	for err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) && ctx.Err() == nil {
		<-time.After(retry)
		_, err = op.api.Lease(ctx, id, false)
	}
	state := gone
	switch {
	case err == nil:
		state = "the lease still exists"
	case !errors.Is(err, rpctypes.ErrLeaseNotFound):
		state = "the current state could not be read"
	case failed == nil:
		return nil
	}
	if failed == nil {
		failed = errors.New("etcd confirmed it")
	}
	return failure{fmt.Errorf("the lease may have been revoked (%w); %s", failed, state), election.ErrUnknown}
}

// Revoke ends a lease, which deletes its keys. It requires the right to write all of them. The request is sent once: if
// it is not confirmed, the error is [election.ErrUnknown].
func (c *Client) Revoke(ctx context.Context, id int64) error {
	sent := false
	err := c.do(func(etcd *clientv3.Client) error {
		sent = true
		_, err := pb.NewLeaseClient(etcd.ActiveConnection()).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: id})
		return err
	})
	var answer rpctypes.EtcdError
	if err == nil || !sent || errors.As(err, &answer) && answer.Code() != codes.Unavailable {
		return err
	}
	return fmt.Errorf("%w: %w", election.ErrUnknown, err)
}

// Release is refused.
func (*Client) Release(context.Context, election.Target) error {
	return failure{errors.New("no client of etcd's v3 API notices that its key was deleted"), election.ErrRefused}
}
