package consulx

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"electop/election"
)

// authorizePath is an endpoint that Consul's own web interface uses. It is a
// help where it answers, never a must.
const authorizePath = "/v1/internal/acl/authorize"

// right is one thing that a token may do or not.
type right struct {
	Resource, Segment, Access string
	Namespace, Partition      string `json:",omitempty"`
	Allow                     bool   `json:",omitempty"`
}

// authorize asks what the token may do. It fails where ACLs are off, with an
// unknown token, and where the endpoint does not answer.
func (c *Client) authorize(ctx context.Context, rights []right) ([]right, error) {
	var answers []right
	rights = slices.Clone(rights)
	for i := range rights {
		rights[i].Namespace, rights[i].Partition = c.namespace, c.partition
	}
	if err := c.post(ctx, authorizePath, rights, &answers); err != nil {
		return nil, err
	}
	if len(answers) != len(rights) {
		return nil, Fail(nil, "Consul answers %d of %d questions about rights", len(answers), len(rights))
	}
	return answers, nil
}

// Rights tells what the token may do to a hold: release it (write on the key)
// and destroy its session (write on the session's node). Known is false when
// Consul does not tell, which is no error: only one that can't be reached is.
func (op *Operator) Rights(ctx context.Context, t election.Target) (election.Rights, error) {
	wanted := []right{{Resource: "key", Segment: t.Key, Access: "write"}}
	// Without the name of the node only a right to every session helps.
	rule := aclRule("session_prefix", "", "write")
	if t.Node != "" {
		rule = aclRule("session", t.Node, "write")
	}
	wanted = append(wanted, right{Resource: "session", Segment: t.Node, Access: "write"})
	answers, err := op.client.authorize(ctx, wanted)
	switch {
	case ctx.Err() != nil:
		return election.Rights{}, op.client.Wrap(ctx.Err())
	case errors.Is(err, ErrUnreachable):
		return election.Rights{}, err
	case err != nil:
		return election.Rights{}, nil //nolint:nilerr // that Consul does not tell is an answer
	}
	rights := election.Rights{Known: true, Release: answers[0].Allow, Destroy: answers[1].Allow}
	if !rights.Release {
		rights.ReleaseRule = aclRule("key", t.Key, "write")
	}
	if !rights.Destroy {
		rights.DestroyRule = rule
	}
	return rights, nil
}

// aclRule spells one rule of a policy the way `consul acl policy` reads it.
func aclRule(resource, segment, policy string) string {
	return resource + " " + quoteHCL(segment) + ` { policy = "` + policy + `" }`
}

// quoteHCL writes a text as a string of HCL that is safe to show: whatever is
// not plain ASCII is escaped, and so is what HCL would take for a template.
func quoteHCL(text string) string {
	return strings.ReplaceAll(strconv.QuoteToASCII(text), "${", `\u0024{`)
}
