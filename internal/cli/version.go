package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The linker sets these variables in a release: -ldflags "-X electop/internal/cli.releaseVersion=v1.2.3".
var releaseVersion, releaseCommit, releaseDate string //nolint:gochecknoglobals // -X sets variables only

// build describes the commit that the program was built from.
type build struct {
	version string
	commit  string // "" if unknown
	date    string // RFC 3339; "" if unknown
	changed bool   // true if the build contains uncommitted changes
}

func newVersionCommand(d deps, _ *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and its date",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			commit := cmp.Or(b.commit, "unknown")
			if b.changed {
				commit += ", with uncommitted changes"
			}
			_, err := fmt.Fprintf(d.stdout, "%scommit   %s\ndate     %s\n", versionLine(), commit, cmp.Or(b.date, "unknown"))
			return err
		},
	}
}

// versionLine returns the output of --version.
func versionLine() string {
	return fmt.Sprintf("electop %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version of the release or of the module. If neither is known, it returns a substitute,
// such as "devel-" and the commit.
func version() string { return readBuild().version }

// readBuild reads from the build information the values that the linker did not set.
func readBuild() build {
	b := build{version: releaseVersion, commit: releaseCommit, date: releaseDate}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		b.version = cmp.Or(b.version, "unknown")
		return b
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b.changed = settings["vcs.modified"] == "true"
	b.commit = cmp.Or(b.commit, settings["vcs.revision"])
	b.date = cmp.Or(b.date, settings["vcs.time"])
	if v := info.Main.Version; v != "(devel)" {
		b.version = cmp.Or(b.version, v)
	}
	if b.version == "" && len(b.commit) >= 12 {
		b.version = "devel-" + b.commit[:12]
	}
	b.version = cmp.Or(b.version, "devel")
	return b
}
