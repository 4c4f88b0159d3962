package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"electop/internal/consultest"
)

// prometheus runs a Prometheus that scrapes a recorder, and returns a function that
// queries it.
func prometheus(t *testing.T, recorder, tokenFile string) (query func(string) string) {
	t.Helper()
	program := consultest.Program(t, "prometheus", "apt-get install prometheus")
	folder, address := t.TempDir(), freeAddress(t)
	config := filepath.Join(folder, "prometheus.yml")
	text := fmt.Sprintf(`scrape_configs:
  - job_name: electop
    scrape_interval: 1s
    authorization: {credentials_file: %s}
    static_configs: [{targets: [%q]}]
`, tokenFile, strings.TrimPrefix(recorder, "http://"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log buffer
	cmd := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return func(expr string) string {
		response, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(expr))
		if err != nil {
			return "" // it is starting
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return string(body)
	}
}

func TestPrometheusScrapesRecord(t *testing.T) {
	slow(t)
	w := onMemory(t)
	a, b := w.session(nil), w.session(nil)
	w.acquire("service/web/leader", a, "web-1")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := recordOn(w, "--listen", "ADDRESS", "--bearer-token-file", token)
	query := prometheus(t, r.url, token)
	sample := func(expr, want string) {
		t.Helper()
		eventually(t, expr, func() bool { return strings.Contains(query(expr), want) })
	}
	sample(`electop_election_leader_info{key="service/web/leader"}`, `"leader":"web-1"`)
	sample("electop_consul_connected == 1", `"job":"electop"`)
	w.unlock("service/web/leader", a)
	w.acquire("service/web/leader", b, "web-2")
	sample(`increase(electop_terms_ended_total{cause="released"}[1m]) > 0`, `"cause":"released"`)
	sample(`electop_election_leader_info{key="service/web/leader"}`, `"leader":"web-2"`)
	if got := query("electop_election_leader_info"); strings.Contains(got, "web-1") {
		t.Errorf("the former leader still has a sample: %s", got)
	}
}
