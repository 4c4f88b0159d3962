package consulx

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// authorizePath is an internal endpoint that Consul's web interface uses. electop must also work without it.
const authorizePath = "/v1/internal/acl/authorize"

// right is a permission. In a response, Allow is set if the token has this permission.
type right struct {
	Access, Resource, Segment string
	exact                     bool   // Segment is a whole name, not a prefix
	Namespace, Partition      string `json:",omitempty"`
	Allow                     bool   `json:",omitempty"`
}

// rightTo returns the right to read or write the resources whose names begin with a prefix.
func rightTo(access, resource, prefix string) right {
	return right{Access: access, Resource: resource, Segment: prefix}
}

// keyRight returns the right to the keys of a pattern.
func keyRight(access string, p election.Pattern) right {
	return right{Access: access, Resource: "key", Segment: p.Prefix(), exact: p.Exact()}
}

// rule returns the ACL rule that grants the right, like `consul acl policy read`, safe to print. It escapes HCL's
// templates and all characters that are not printable ASCII.
func (r right) rule() string {
	if !r.exact {
		r.Resource += "_prefix"
	}
	return r.Resource + " " + strings.ReplaceAll(strconv.QuoteToASCII(r.Segment), "${", `\u0024{`) + ` { policy = "` + r.Access + `" }`
}

// aclsOffFor is how long electop assumes that ACLs are still off. Consul logs an error for each request about ACLs while
// they are off.
const aclsOffFor = 10 * time.Minute

// authorize reads whether the token has these permissions. It fails if ACLs are off or the token is unknown.
func (c *Client) authorize(ctx context.Context, rights []right) ([]right, error) {
	var answers []right
	rights = slices.Clone(rights)
	for i := range rights {
		rights[i].Namespace, rights[i].Partition = c.namespace, c.partition
	}
	if _, err := c.api.Raw().Write(authorizePath, rights, &answers, c.Write(ctx)); err != nil {
		if err = c.Wrap(err); errors.Is(err, errACLsOff) {
			c.aclsOff.Store(time.Now().UnixNano())
		}
		return nil, err
	}
	c.aclsOff.Store(0)
	if len(answers) != len(rights) {
		return nil, Fail(nil, "Consul returned %d of %d permissions", len(answers), len(rights))
	}
	return answers, nil
}

// Rights reads which rules the token lacks to release a key and destroy its session. It returns an error only if Consul is
// unreachable or ctx has ended.
func (op *Operator) Rights(ctx context.Context, t election.Target) (election.MissingRules, error) {
	if time.Since(time.Unix(0, op.client.aclsOff.Load())) < aclsOffFor {
		return nil, op.client.Wrap(ctx.Err())
	}
	wanted := []right{rightTo("write", "key", t.Key), rightTo("write", "session", t.Node)}
	wanted[0].exact, wanted[1].exact = true, t.Node != "" // if the node is unknown, the token needs write on all sessions
	answers, err := op.client.authorize(ctx, wanted)
	switch {
	case ctx.Err() != nil:
		return nil, op.client.Wrap(ctx.Err())
	case errors.Is(err, ErrUnreachable):
		return nil, err
	case err != nil:
		return nil, nil //nolint:nilerr,nilnil // the result is that the permissions are unknown
	}
	missing := election.MissingRules{}
	for i, kind := range []election.ActionKind{election.ActionRelease, election.ActionDestroy} {
		if !answers[i].Allow {
			missing[kind] = wanted[i].rule()
		}
	}
	return missing, nil
}

// Filtered reports whether ACLs may have filtered the response. Consul omits the filtered flag in responses to
// anonymous requests. For such a request, Filtered returns true if the default policy is deny.
func (c *Client) Filtered(meta *api.QueryMeta) bool {
	return meta.ResultsFilteredByACLs || c.anonymous && meta.DefaultACLPolicy == "deny"
}

// OmitsSilently reports whether Consul may omit keys and sessions from responses without setting the filtered flag.
func (c *Client) OmitsSilently(ctx context.Context) (bool, error) {
	if !c.anonymous {
		return false, nil
	}
	_, meta, err := c.api.Session().Info(NoSession, c.Read(ctx)) // every response contains the default policy
	if err != nil || c.Filtered(meta) {
		return err == nil, c.Wrap(err)
	}
	return c.restricted(ctx)
}

// restricted reports whether rules for the anonymous token may hide data although the default policy is "allow". Consul
// then denies the read of the request's own token. With ACLs off, or with a default token of the agent, it does not.
func (c *Client) restricted(ctx context.Context) (bool, error) {
	if time.Since(time.Unix(0, c.aclsOff.Load())) < aclsOffFor {
		return false, nil
	}
	_, _, err := c.api.ACL().TokenReadSelf(c.Read(ctx))
	switch err = c.Wrap(err); {
	case errors.Is(err, errACLsOff):
		c.aclsOff.Store(time.Now().UnixNano())
		return false, nil
	case IsDenied(err):
		return true, nil
	}
	return false, err
}

// MayOmit reports whether a key that is not in the response may still exist. If the token is revoked while a query is
// blocked, Consul returns an empty response without the filtered flag.
func (c *Client) MayOmit(meta *api.QueryMeta) bool {
	return meta.ResultsFilteredByACLs || meta.DefaultACLPolicy == "deny" || !c.anonymous
}
