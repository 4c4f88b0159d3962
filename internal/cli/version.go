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

func newVersionCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and its date",
		Args:  arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			settings := map[string]string{}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					settings[s.Key] = s.Value
				}
			}
			_, err := fmt.Fprintf(o.stdout, "%scommit   %s\ndate     %s\n", versionLine(),
				cmp.Or(releaseCommit, settings["vcs.revision"], "unknown"), cmp.Or(releaseDate, settings["vcs.time"], "unknown"))
			return err
		},
	}
}

// versionLine returns the output of --version.
func versionLine() string {
	return fmt.Sprintf("electop %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version of the release or of the module. The version of another build contains the commit and,
// with uncommitted changes, ends with "+dirty".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return cmp.Or(releaseVersion, info.Main.Version, "unknown")
}
