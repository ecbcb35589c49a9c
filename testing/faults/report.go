// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// writeJSON writes the results to the named file, to stdout if that is "-", and
// nowhere if it is empty.
func writeJSON(name string, stdout io.Writer, results []result) error {
	if name == "" {
		return nil
	}
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return write(name, stdout, string(text)+"\n")
}

func write(name string, stdout io.Writer, text string) error {
	if name == "-" {
		_, err := io.WriteString(stdout, text)
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// markdown is the same for people, and what was not as expected below it.
func markdown(results []result) string {
	var b strings.Builder
	b.WriteString("| id | fault | verdict | cured by | detected, s | healed, s | requests | relisted objects | liveness failed | stock healed, s | expected | ok |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d | %d | %s | %s | %s | %s |\n",
			r.ID, cell(r.Fault), r.Verdict, orDash(r.CuredBy), figure(r.Detected), figure(r.Healed), r.Requests, r.Relisted,
			yes(r.LivenessFailed), figure(r.StockHealed), cell(r.Expected), yes(r.OK))
	}
	for _, r := range results {
		if !r.OK {
			fmt.Fprintf(&b, "\n%s is not ok: %s.\n", r.ID, strings.Join(r.complaints, "; "))
		}
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return cell(text)
}

func figure(f *float64) string {
	if f == nil {
		return "never"
	}
	return fmt.Sprintf("%.1f", *f)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
