// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package guards

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freshwatch/freshwatch/freshness"
	"github.com/freshwatch/freshwatch/reconcile"
	"github.com/freshwatch/freshwatch/watchcanary"
)

const runbook = "docs/runbook.md"

// TestRunbookIsComplete wants a section for every alert, verdict, state and stage, with
// everything that somebody needs who is called at night, and no section for what does not
// exist.
func TestRunbookIsComplete(t *testing.T) {
	wanted := []string{"Exit on a dead credential"}
	for _, name := range repoFiles(t) {
		if strings.HasPrefix(name, "alerts/") && strings.HasSuffix(name, ".rules.yaml") {
			wanted = append(wanted, alertsIn(readFile(t, name))...)
		}
	}
	for _, verdict := range namesOf[freshness.Verdict]() {
		wanted = append(wanted, "Verdict: "+verdict)
	}
	for _, state := range namesOf[watchcanary.State]() {
		wanted = append(wanted, "Canary: "+state)
	}
	for stage := reconcile.Overrun; stage <= reconcile.Failing; stage++ { // all but Running
		wanted = append(wanted, "Reconcile: "+stage.String())
	}
	for _, problem := range incomplete(readFile(t, runbook), wanted) {
		t.Errorf("%s: %s", runbook, problem)
	}
}

// TestRunbookQuotesTheSource looks for what the runbook has people search for, log lines,
// reasons and messages, in the source.
func TestRunbookQuotesTheSource(t *testing.T) {
	var literals []string
	for _, name := range librarySource(t) {
		literals = append(literals, literalsIn(t, readFile(t, name))...)
	}
	quoted := quotes(readFile(t, runbook))
	if len(quoted) == 0 {
		t.Fatal("the runbook quotes nothing: the guard would prove nothing")
	}
	for _, quote := range quoted {
		if !slices.ContainsFunc(literals, func(l string) bool { return strings.Contains(l, quote) }) {
			t.Errorf("%s has people look for %q, which nothing in the source says", runbook, quote)
		}
	}
}

var alertName = regexp.MustCompile(`(?m)^ *- alert: (\w+)$`)

func alertsIn(rules string) []string {
	var names []string
	for _, m := range alertName.FindAllStringSubmatch(rules, -1) {
		names = append(names, m[1])
	}
	return names
}

var (
	// sectionStart leaves chapters out, which only group sections, but for the one that
	// has none.
	sectionStart = regexp.MustCompile(`(?m)^(?:### (.+)|## (Exit .+))$`)
	chapterStart = regexp.MustCompile(`(?m)^## `)
	// aspect is what a paragraph is about: **Means**, or **Look, Do**, for those of which
	// another section tells.
	aspect  = regexp.MustCompile(`(?m)^- \*\*([A-Z][a-zA-Z, ]+)\*\*[:,]`)
	aspects = []string{"Means", "Look", "Do", "Do not", "Over"}
)

// incomplete returns what is missing from a runbook, and what it has that is not wanted.
func incomplete(doc string, wanted []string) []string {
	doc = fencedBlock.ReplaceAllString(doc, "")
	found := map[string][]string{}
	starts := sectionStart.FindAllStringSubmatchIndex(doc, -1)
	for i, m := range starts {
		end := len(doc)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		text := doc[m[1]:end]
		if chapter := chapterStart.FindStringIndex(text); chapter != nil {
			text = text[:chapter[0]]
		}
		title := doc[max(m[2], m[4]):max(m[3], m[5])]
		found[title] = []string{}
		for _, a := range aspect.FindAllStringSubmatch(text, -1) {
			found[title] = append(found[title], strings.Split(a[1], ", ")...)
		}
	}
	var problems []string
	for _, title := range wanted {
		switch got, has := found[title]; {
		case !has:
			problems = append(problems, fmt.Sprintf("%q has no section", title))
		case !slices.Equal(got, aspects):
			problems = append(problems, fmt.Sprintf("section %q has to say %q, and says %q", title, aspects, got))
		}
		delete(found, title)
	}
	for _, title := range slices.Sorted(maps.Keys(found)) {
		problems = append(problems, fmt.Sprintf("section %q is about nothing that exists", title))
	}
	return problems
}

// quoted is, in prose, what follows one of these words, and in commands what grep looks
// for. An annotation is quoted wherever it is named.
var quoted = regexp.MustCompile("(?:[Ll]og line|[Rr]eason|[Mm]essage) `([^`]+)`|(?:grep|-e) '([^']+)'|(freshwatch\\.github\\.io/[a-z-]*[a-z])")

func quotes(doc string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(strings.Join(strings.Fields(doc), " "), -1) {
		out = append(out, m[1]+m[2]+m[3])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// literalsIn returns the values of all strings in a file.
func literalsIn(t *testing.T, source string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			values = append(values, literal(lit))
		}
		return true
	})
	return values
}

func TestAlertsIn(t *testing.T) {
	got := alertsIn("groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: x\n  - alert: TooMuch\n    expr: x > 1\n")
	if diff := cmp.Diff([]string{"TooMuch"}, got); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
}

func TestIncomplete(t *testing.T) {
	const whole = "- **Means**: a\n- **Look**: b\n  - **not** this\n- **Do**, with care:\n- **Do not**: d\n- **Over**: e\n"
	doc := "# Runbook\n\n## Verdicts\n\n### Good\n" + whole + "### Short\n- **Means**: a\n- **Look, Do**: b\n## Others\n\n- **Do not**: a\n\n" +
		"### Gone\n" + whole + "```sh\n### Fenced\n```\n## Exit on ice\n- **Means**: a\n- **Look, Do, Do not, Over**: elsewhere\n"
	want := []string{
		`section "Short" has to say ["Means" "Look" "Do" "Do not" "Over"], and says ["Means" "Look" "Do"]`,
		`"Fenced" has no section`,
		`section "Gone" is about nothing that exists`,
	}
	if diff := cmp.Diff(want, incomplete(doc, []string{"Good", "Short", "Fenced", "Exit on ice"})); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestQuotes(t *testing.T) {
	got := quotes("See log line\n`Watch changed`, reason `it is dead`, `kubectl get` and message `Renew it`. Log line `Watch\n" +
		"changed` again.\n```sh\nlog | grep -e 'It is wedged' -e 'It has ended'\nlog | grep 'once more'\n```\n`kubectl annotate lease l freshwatch.github.io/restarts-`")
	want := []string{"It has ended", "It is wedged", "Renew it", "Watch changed", "freshwatch.github.io/restarts", "it is dead", "once more"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
}
