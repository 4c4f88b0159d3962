//go:build unix

package holders

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// asLock is the environment variable with the key and the TTL that make this test binary hold an api.Lock.
const asLock = "HOLDERS_AS_LOCK"

func holdLock(keyAndTTL string) error {
	key, ttl, _ := strings.Cut(keyAndTTL, " ")
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return err
	}
	l, err := client.LockOpts(&api.LockOptions{Key: key, SessionTTL: ttl, LockDelay: time.Second})
	if err != nil {
		return err
	}
	lost, err := l.Lock(nil)
	if err == nil {
		<-lost
	}
	return err
}

// mortals start a holder of the stage's key, whose session has a TTL.
var mortals = map[string]func(s *stage, ttl time.Duration) *exec.Cmd{
	"npm": func(s *stage, ttl time.Duration) *exec.Cmd {
		return npmCandidate(s.t, s.agent, s.key, "web-1", "once", ttl.String())
	},
	"python": func(s *stage, ttl time.Duration) *exec.Cmd {
		needsPython(s.t, "consul")
		return exec.Command("/usr/bin/python3", filepath.Join("testdata", "python-candidate.py"), port(s.t, s.agent), s.key, "web-1", fmt.Sprint(ttl.Seconds()))
	},
	"api.Lock": func(s *stage, ttl time.Duration) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(s.environment(), asLock+"="+s.key+" "+ttl.String())
		return cmd
	},
	"consul lock": func(s *stage, _ time.Duration) *exec.Cmd { // its TTL is always 15 s
		cmd := exec.Command(consultest.Binary(s.t), "lock", strings.TrimSuffix(s.key, "/.lock"), "exec sleep 600")
		cmd.Env = s.environment()
		return cmd
	},
}

// death is the measured end of a holder.
type death struct {
	what string
	at   time.Time
}

// After 20 deaths of each kind of holder with each TTL, the time from the death to the next term is within the outage that
// electop reports.
func TestOutageContainsTheDeath(t *testing.T) {
	if os.Getenv("ELECTOP_FAULTS") != "all" {
		t.Skip("make faults runs this test")
	}
	agent := consultest.Dev(t, consultest.WithConfig("limits { http_max_conns_per_client = 2000 }"))
	home := t.TempDir()
	run := func(args ...string) *exec.Cmd {
		return electop(home, append([]string{"--http-addr", agent.Addr(), "-k", "mortal/**", "--history", filepath.Join(home, "history.db")}, args...)...)
	}
	watch, deaths := start(t, run("watch", "-o", "json")), sync.Map{}
	t.Run("holders", func(t *testing.T) {
		for kind := range mortals {
			for _, ttl := range []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second} {
				for n := range 20 {
					if kind == "consul lock" && ttl != 15*time.Second {
						continue
					}
					t.Run(fmt.Sprintf("%s/%v/%d", kind, ttl, n), func(t *testing.T) {
						t.Parallel()
						s := stageOn(t, agent, "", fmt.Sprintf("mortal/%s-%v-%d/.lock", strings.ReplaceAll(kind, " ", "-"), ttl, n))
						deaths.Store(s.key, die(s, kind, ttl, watch))
					})
				}
			}
		}
	})
	watch.signal(syscall.SIGTERM)
	watch.exitCode()
	terms := execute(t, run("history", "--terms", "--since", "1h", "-o", "json"))
	for line := range strings.Lines(terms.stdout) {
		var term struct {
			Key     string
			To      time.Time
			Vacancy *float64 `json:"vacancy_seconds"`
			Min     *float64 `json:"outage_min_ms"`
			Max     *float64 `json:"outage_max_ms"`
		}
		must(t, json.Unmarshal([]byte(line), &term))
		died, found := deaths.LoadAndDelete(term.Key)
		switch {
		case !found: // the term of the next leader
		case term.Vacancy == nil || term.Min == nil || term.Max == nil:
			t.Errorf("no outage: %s", line)
		default:
			d, _ := died.(death)
			truth := term.To.Sub(d.at).Seconds()*1000 + *term.Vacancy*1000
			t.Logf("%s: vacancy %.3f s, outage %.3f to %.3f s, truth %.3f s", d.what, *term.Vacancy, *term.Min/1000, *term.Max/1000, truth/1000)
			if truth < *term.Min || truth > *term.Max {
				t.Errorf("the outage does not contain the death: %s", line)
			}
		}
	}
	deaths.Range(func(key, _ any) bool {
		t.Errorf("no term of %v", key)
		return true
	})
}

// die starts a holder, and kills or stops it at any time between two renewals. It returns when the next leader was observed.
func die(s *stage, kind string, ttl time.Duration, watch *process) death {
	s.t.Helper()
	holder := start(s.t, mortals[kind](s, ttl))
	s.led()
	<-time.After(ttl/20 + rand.N(ttl)) //nolint:forbidigo // the random time of the death; npm's client ends its lock after 11 s if the TTL is 10 s
	signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}[rand.N(2)]
	died := death{fmt.Sprintf("%s, TTL %v, %v", kind, ttl, signal), time.Now()}
	holder.signal(signal)
	s.log.await(s.t, "the end of the session", func(st state) bool { return st.session() == "" && died.at.Before(st.at) })
	next := newGuide(s, "web-2")
	await(s.t, "the next term", next.acquire)
	watch.says(next.session)
	return died
}
