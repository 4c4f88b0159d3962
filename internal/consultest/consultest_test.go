package consultest

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(Wrap(m)) }

func TestStartFailureShowsTheLog(t *testing.T) {
	_, err := startAll(Binary(t), t.TempDir(), kind{dev: true, servers: 1},
		newSettings([]Option{WithConfig(`no_such_setting = true`)}))
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Fatalf("the error does not contain the reason: %v", err)
	}
}

func TestMissingBinaryErrorNamesMakeConsul(t *testing.T) {
	t.Setenv(BinaryEnv, "/nowhere/consul")
	_, err := FindBinary(BinaryEnv, "consul")
	if err == nil || !strings.Contains(err.Error(), "make consul") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v", err)
	}
}
