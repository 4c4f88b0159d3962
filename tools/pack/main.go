// Pack builds the Linux packages that .goreleaser.yaml describes, without goreleaser:
//
//	go -C tools/pack run . -version 1.2.3 -arch amd64 -binary ../../bin/static/electop -out ../../bin/dist
//
// Paths in .goreleaser.yaml are relative to the root of the repository.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
	"gopkg.in/yaml.v3"
)

func main() {
	root := flag.String("root", "../..", "root of the repository")
	version := flag.String("version", "", "version of the packages")
	arch := flag.String("arch", "", "GOARCH of the binary")
	binary := flag.String("binary", "", "program to package")
	out := flag.String("out", "", "folder for the packages")
	flag.Parse()
	if err := run(*root, *version, *arch, *binary, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(root, version, arch, binary, out string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	settings, formats, err := section(".goreleaser.yaml", version, arch)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, format := range formats {
		if err := pack(settings, format, binary, out); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

// section returns the section nfpms of .goreleaser.yaml as a configuration for nfpm, and the package formats.
func section(path, version, arch string) (settings []byte, formats []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var file struct {
		Packages []map[string]any `yaml:"nfpms"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, nil, err
	}
	if len(file.Packages) != 1 {
		return nil, nil, errors.New(path + ": nfpms must have exactly one element")
	}
	p := file.Packages[0]
	p["name"], p["version"], p["arch"], p["platform"] = p["package_name"], version, arch, "linux"
	for _, format := range p["formats"].([]any) {
		formats = append(formats, format.(string))
	}
	for _, own := range []string{"package_name", "formats", "bindir"} {
		delete(p, own)
	}
	settings, err = yaml.Marshal(p)
	return settings, formats, err
}

func pack(settings []byte, format, binary, out string) error {
	config, err := nfpm.Parse(bytes.NewReader(settings))
	if err != nil {
		return err
	}
	config.Contents = append(config.Contents, &files.Content{
		Source: binary, Destination: "/usr/bin/electop", FileInfo: &files.ContentFileInfo{Mode: 0o755},
	})
	info, err := config.Get(format)
	if err != nil {
		return err
	}
	info = nfpm.WithDefaults(info)
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	name := filepath.Join(out, packager.ConventionalFileName(info))
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := packager.Package(info, f); err != nil {
		return errors.Join(err, f.Close())
	}
	fmt.Println(name)
	return f.Close()
}
