package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pictureLinks matches a picture in a Markdown document, as ![text](path) or as an attribute of HTML.
var pictureLinks = regexp.MustCompile(`!\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)

// pictureLinksOf returns the paths of all pictures to which documents refer. The value is one of these documents.
func pictureLinksOf(t *testing.T, root string) map[string]string {
	t.Helper()
	links := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		documents, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(documents) == 0 {
			t.Fatalf("no documents match %s: %v", pattern, err)
		}
		for _, document := range documents {
			text, err := os.ReadFile(document)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range pictureLinks.FindAllStringSubmatch(string(text), -1) {
				if link := m[1] + m[2]; !strings.Contains(link, "://") {
					links[filepath.Join(filepath.Dir(document), link)] = document
				}
			}
		}
	}
	return links
}

func TestDocumentsAndPicturesMatch(t *testing.T) {
	root := filepath.Join("..", "..")
	links := pictureLinksOf(t, root)
	for picture, document := range links {
		if _, err := os.Stat(picture); err != nil {
			t.Errorf("%s refers to a picture that does not exist: %v", document, err)
		}
	}
	pictures, err := filepath.Glob(filepath.Join(root, "docs", "pictures", "*"))
	if err != nil || len(pictures) == 0 {
		t.Fatalf("docs/pictures contains no pictures, or cannot be read: %v", err)
	}
	for _, picture := range pictures {
		if links[picture] == "" {
			t.Errorf("no document refers to %s", picture)
		}
	}
}

func TestEveryPictureIsFromAScene(t *testing.T) {
	wanted := map[string]int64{}
	for _, sc := range scenes() {
		for _, th := range themes() {
			if sc.recorded {
				wanted[sc.name+"-"+th.name+".svg"] = 500_000
			}
			for _, st := range sc.steps {
				if st.picture != "" {
					wanted[st.picture+"-"+th.name+".svg"] = 150_000
				}
			}
		}
	}
	files, err := os.ReadDir(filepath.Join("..", "..", "docs", "pictures"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		if most, ok := wanted[file.Name()]; !ok || info.Size() > most {
			t.Errorf("%s has %d bytes: want a picture of a scene with at most %d", file.Name(), info.Size(), most)
		}
		delete(wanted, file.Name())
	}
	for name := range wanted {
		t.Errorf("%s does not exist: run `make pictures`", name)
	}
}
