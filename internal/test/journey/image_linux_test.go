package journey

import (
	"bufio"
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"electop/internal/consultest"
)

// The environment, user and paths are those of the Dockerfile. The root folder contains only the static program, the
// CA certificates and the folder for the history, and the user is not root.
func TestTheStaticProgramRecordsInAnEmptyRoot(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		consultest.LeaveOut(t, "root", "only root may change the root folder")
	}
	s := newStage(t)
	image := readDockerfile(t)
	consul := tlsProxy(t, s.Addr)
	root := image.root(t, consul)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	electop := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, image.program, append([]string{"--http-addr", consul.URL, "-k", s.prefix + "/*/leader"}, args...)...)
		cmd.Dir, cmd.Env = "/", image.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: image.user, Gid: image.user}}
		return cmd
	}
	record := electop("record")
	stderr, err := record.StderrPipe()
	must(t, err)
	must(t, record.Start())
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "recording") {
		t.Log(lines.Text())
	}
	s.Destroy(s.a)
	s.acquire("web", s.b, "web-b")
	awaitHistory(t, electop)
	must(t, record.Process.Signal(syscall.SIGTERM))
	for lines.Scan() {
		t.Log(lines.Text())
	}
	if err := record.Wait(); err != nil {
		t.Errorf("record: %v", err)
	}
	if out, err := electop("version").CombinedOutput(); err != nil {
		t.Errorf("version: %v: %s", err, out)
	}
}

// awaitHistory polls the history until it has the new leader.
func awaitHistory(t *testing.T, electop func(...string) *exec.Cmd) {
	t.Helper()
	for {
		out, err := electop("history", "--terms", "-o", "json").CombinedOutput()
		exit := (*exec.ExitError)(nil)
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) { // 3: the history has no election yet
			t.Fatalf("history: %v: %s", err, out)
		}
		if bytes.Contains(out, []byte(`"leader":"web-b"`)) {
			return
		}
	}
}

// image is the last stage of the Dockerfile.
type image struct {
	program string
	user    uint32
	env     []string
	state   string // the only folder that the user can write
}

func readDockerfile(t *testing.T) (im image) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "Dockerfile"))
	must(t, err)
	_, stage, found := strings.Cut(string(text), "\nFROM scratch\n")
	if !found {
		t.Fatal("no FROM scratch in the Dockerfile")
	}
	field := func(expression string) string {
		m := regexp.MustCompile(`(?m)^` + expression + `$`).FindStringSubmatch(stage)
		if m == nil {
			t.Fatalf("no %s in the Dockerfile", expression)
		}
		return m[1]
	}
	user, err := strconv.ParseUint(field(`USER (\d+):\d+`), 10, 32)
	if err != nil || user == 0 {
		t.Fatalf("user %d: %v", user, err)
	}
	return image{program: field(`ENTRYPOINT \["(.+)"\]`), user: uint32(user), env: []string{field(`ENV (.+)`)}, state: field(`VOLUME (.+)`)}
}

// root creates the root folder, with the certificate of a server as the only CA certificate.
func (im image) root(t *testing.T, server *httptest.Server) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{filepath.Dir(root), root} { // the user must reach it
		must(t, os.Chmod(folder, 0o755))
	}
	must(t, os.MkdirAll(filepath.Join(root, "etc/ssl/certs"), 0o755))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	must(t, os.WriteFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"), ca, 0o644))
	must(t, os.Mkdir(filepath.Join(root, im.state), 0o700))
	must(t, os.Chown(filepath.Join(root, im.state), int(im.user), int(im.user)))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(root, im.program), "electop")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return root
}

// tlsProxy serves an agent over HTTPS.
func tlsProxy(t *testing.T, addr string) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server
}
