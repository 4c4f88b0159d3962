package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/etcdx"
	"electop/internal/feed"
	"electop/internal/redact"
	"electop/ui/kit"
	"electop/ui/pages"
)

// etcdFlags are the flags and variables of etcdctl.
type etcdFlags struct {
	etcdx.Options
	endpoints, api string
}

// lacksInEtcd returns why a command or flag does not exist for etcd, or "".
func lacksInEtcd(name string) string {
	return map[string]string{
		"campaign":   "electop campaigns in Consul only",
		"datacenter": "etcd has no datacenters",
		"drain":      "etcd does not record the node of a candidate",
		"node":       "etcd does not record nodes",
		"probe":      "etcd has no lock-delay",
		"rescue":     "electop does not act on locks in etcd",
		"stale":      "electop reads etcd consistently only",
	}[name]
}

// etcd is the store of a cluster of etcd.
type etcd struct {
	etcdx.Reader
	redact.Secrets
	flags etcdFlags
}

// newEtcd opens a cluster. It sends no request.
func newEtcd(f etcdFlags) (e etcd, err error) {
	user, password, both := strings.Cut(f.User, ":")
	if both {
		f.User = "" // other programs read it with its password where electop read it
	}
	o := f.Options
	o.Endpoints = election.Map(strings.Split(f.endpoints, ","), strings.TrimSpace)
	o.User, o.Password = user, cmp.Or(f.Password, password)
	switch {
	case user != "" && !both && f.Password == "":
		return e, usagef("--user %s: the password is missing; use %s", clean(user), environment("password"))
	case (f.Cert == "") != (f.Key == ""):
		return e, usagef("--cert and --key-file, which is --key of etcdctl, must be used together")
	case slices.Contains(o.Endpoints, ""):
		return e, usagef("--endpoints: an address is empty")
	case strings.Contains(f.endpoints, "@"):
		return e, usagef("--endpoints: must not contain a user or password; use --user and %s", environment("password"))
	}
	f.endpoints = strings.Join(o.Endpoints, ",")
	e.flags, e.Secrets = f, redact.New(o.Password)
	switch f.api {
	case "2":
		e.API, err = etcdx.NewV2(o)
	case "", "3":
		e.API, err = etcdx.New(o)
	default:
		err = usagef("--etcd-api %s: electop reads etcd's APIs 2 and 3", clean(f.api))
	}
	return e, err
}

func (e etcd) Address() string { return e.flags.endpoints }

func (e etcd) Flags() [][2]string {
	f := e.flags
	return [][2]string{
		{"endpoints", e.Address()}, {"etcd-api", f.api}, {"cacert", f.CACert}, {"cert", f.Cert}, {"key-file", f.Key}, {"user", f.User},
	}
}

func (e etcd) Consistently() store { return e }

func (etcd) Patterns(texts []string) (election.Patterns, error) {
	if !slices.ContainsFunc(texts, func(text string) bool { return !strings.HasPrefix(text, "!") }) {
		texts = append(texts, etcdx.DefaultPattern)
	}
	ps, err := election.ParsePatterns(texts)
	return ps.Rooted(), err
}

func (e etcd) Observer(o feed.Options) observer { return etcdx.NewObserver(e.API, o) }

// ReadKey is not needed to explain a missing key: etcd hides no keys.
func (etcd) ReadKey(context.Context, string) (*election.Pair, error) { return nil, nil }

func (etcd) Sessions(context.Context) ([]*election.Session, error) { return nil, nil }

func (etcd) Checks(context.Context, []string) map[string]election.NodeChecks { return nil }

func (e etcd) Survey(ctx context.Context, keys []string) []election.Surroundings {
	all := make([]election.Surroundings, len(keys))
	for i, key := range keys {
		all[i] = etcdx.Surroundings(ctx, e.API, key)
	}
	return all
}

func (e etcd) Discover(ctx context.Context, prefix string, ps election.Patterns, progress kit.Progress) (found pages.Found, err error) {
	v3, ok := e.API.(*etcdx.Client)
	if !ok {
		return found, errors.New("electop finds all queues in the v2 API without flags")
	}
	collected := insight.LockCollector{Store: e.Store(), Single: etcdx.Single(ps)}
	total, elections, err := v3.Leased(ctx, prefix, progress)
	for _, p := range elections {
		collected.Add(*p)
	}
	found.FoundLocks, found.Scanned = collected.Groups(nil, nil, ps), total
	return found, err
}

// Doctor shows whether the user may read the keys of the patterns, the rights of the user, and the state of the members.
func (e etcd) Doctor(ctx context.Context, ps election.Patterns) (d diagnosis) {
	report := &struct {
		Datacenter string         `json:"datacenter,omitempty"`
		Address    string         `json:"address"`
		Rights     []etcdx.Right  `json:"rights"`
		Members    []etcdx.Member `json:"members,omitempty"`
		Error      string         `json:"error,omitempty"`
	}{Datacenter: e.Datacenter(), Address: e.Address()}
	d.report = report
	add := func(subject, status, detail string) {
		d.rows = append(d.rows, pages.Check{Subject: subject, Status: status, Detail: detail})
	}
	_, d.err = e.Once(ctx, ps, election.HistoryRead{})
	denied, all := errors.Is(d.err, election.ErrDenied), false
	if d.err == nil || denied {
		report.Rights, all, d.err = e.Rights(ctx)
	}
	if d.err != nil {
		report.Error = e.Redact(consulx.Describe(d.err))
		return d
	}
	add("address", "ok", report.Address)
	keys := "keys " + clean(strings.Join(ps.Strings(), " "))
	if denied {
		d.exit = exitDenied
		add(keys, "denied", "this user may not read all of them; select others with -k")
	} else {
		add(keys, "ok", "read")
	}
	if all {
		add("all keys", "ok", "this user may read and write all keys")
	}
	for _, r := range report.Rights {
		rights := "read, write"
		switch {
		case !r.Write:
			rights = "read"
		case !r.Read:
			rights = "write"
		}
		subject := fmt.Sprintf("keys from %q to %q", r.Key, r.End)
		switch r.End {
		case "":
			subject = fmt.Sprintf("key %q", r.Key)
		case "\x00":
			subject = fmt.Sprintf("keys from %q", r.Key)
		}
		add(subject, "ok", rights)
	}
	if v3, ok := e.API.(*etcdx.Client); ok {
		report.Members, d.err = v3.Members(ctx)
	}
	for _, m := range report.Members {
		status, detail := "ok", m.State
		if m.Problem != "" {
			status, detail = "limited", strings.TrimPrefix(m.State+", "+clean(m.Problem), ", ")
		}
		add("member "+clean(m.Name), status, detail)
	}
	return d
}

func (e etcd) Operator(note func(election.OperatorAction)) operator {
	return etcdx.NewOperator(e.API, note)
}
