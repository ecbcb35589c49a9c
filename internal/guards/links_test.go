// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestRelativeLinksResolve follows every relative link of the Markdown files, to
// the heading where it names one.
func TestRelativeLinksResolve(t *testing.T) {
	for _, name := range withExt(repoFiles(t), ".md") {
		for _, problem := range brokenLinks(os.DirFS(repoRoot), name) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// brokenLinks returns what is wrong with the relative links of one document.
func brokenLinks(repo fs.FS, doc string) []string {
	text, err := fs.ReadFile(repo, doc)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, link := range relativeLinks(string(text)) {
		if err := follow(repo, doc, link); err != nil {
			problems = append(problems, fmt.Sprintf("link %q: %v", link, err))
		}
	}
	return problems
}

var errNoHeading = errors.New("no such heading")

// follow finds the file that a link in doc leads to, and its heading if the link
// names one.
func follow(repo fs.FS, doc, link string) error {
	target, fragment, _ := strings.Cut(link, "#")
	file := doc
	if target != "" {
		file = path.Join(path.Dir(doc), target)
	}
	if _, err := fs.Stat(repo, file); err != nil {
		return err
	}
	if fragment == "" || path.Ext(file) != ".md" {
		return nil
	}
	text, err := fs.ReadFile(repo, file)
	if err != nil {
		return err
	}
	if !slices.Contains(anchors(string(text)), fragment) {
		return fmt.Errorf("%s: %w", file, errNoHeading)
	}
	return nil
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	codeSpan    = regexp.MustCompile("`[^`\n]*`")
	// [text](target) and [label]: target
	link     = regexp.MustCompile(`(?m)\]\(([^()\s]+)\)|^\[[^]]+\]: (\S+)$`)
	absolute = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// relativeLinks returns the targets of the links in a Markdown text that stay
// within the repository. Code is not searched.
func relativeLinks(text string) []string {
	text = codeSpan.ReplaceAllString(fencedBlock.ReplaceAllString(text, ""), "")
	var links []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if target := m[1] + m[2]; !absolute.MatchString(target) {
			links = append(links, target)
		}
	}
	return links
}

// anchors returns the fragments by which the headings of a Markdown text can be
// linked to: lower case, punctuation gone, spaces turned to hyphens.
func anchors(text string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(text, ""), -1) {
		name := unlinked.ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

func TestBrokenLinks(t *testing.T) {
	doc := strings.Join([]string{
		"# What we measured, and how",
		"[file](guide.md) [heading](guide.md#the-two-commands) [own](#what-we-measured-and-how) [folder](../internal)",
		"[web](https://example.com/missing) `[code](missing.md)`",
		"```text",
		"[fenced](missing.md)",
		"# fenced",
		"```",
		"[gone](gone.md) [renamed](guide.md#old-name) [mine](#fenced) [by label][l]",
		"",
		"[l]: lost.md",
	}, "\n")
	repo := fstest.MapFS{
		"docs/index.md":    {Data: []byte(doc)},
		"docs/guide.md":    {Data: []byte("## The two commands\n")},
		"internal/keep.go": {},
	}
	want := []string{
		`link "gone.md": open docs/gone.md: file does not exist`,
		`link "guide.md#old-name": docs/guide.md: no such heading`,
		`link "#fenced": docs/index.md: no such heading`,
		`link "lost.md": open docs/lost.md: file does not exist`,
	}
	if diff := cmp.Diff(want, brokenLinks(repo, "docs/index.md")); diff != "" {
		t.Errorf("broken links (-want +got):\n%s", diff)
	}
}
