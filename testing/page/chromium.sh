#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Freshwatch Authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of a Chromium, which the tests and the screenshots of the page run.
#
#   chromium.sh find      the one of FRESHWATCH_CHROMIUM, or one that is installed
#   chromium.sh install   the same, and where there is none, Debian's is installed, with
#                         fonts that look like those of other machines
#
# In continuous integration, where CI is set, find installs too.
set -euo pipefail

find_chromium() {
	if [[ -n ${FRESHWATCH_CHROMIUM:-} ]]; then
		command -v "$FRESHWATCH_CHROMIUM" && return
		echo "FRESHWATCH_CHROMIUM is $FRESHWATCH_CHROMIUM, which is no program" >&2
		exit 1
	fi
	local name
	for name in chromium chromium-browser google-chrome google-chrome-stable chrome \
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" /Applications/Chromium.app/Contents/MacOS/Chromium; do
		command -v "$name" && return
	done
	return 1
}

find_chromium && exit

if [[ ${1:-find} != install && -z ${CI:-} ]]; then
	echo "there is no Chromium: make browser installs Debian's, or set FRESHWATCH_CHROMIUM to the path of yours" >&2
	exit 1
fi
if ! command -v apt-get >/dev/null || [[ $(id -u) != 0 ]]; then
	echo "there is no Chromium, and only root of a Debian can install one from here: install it, or set FRESHWATCH_CHROMIUM to its path" >&2
	exit 1
fi
echo "installing chromium (some minutes, and 400 MB)" >&2
{
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-core fonts-noto-mono
} >&2
find_chromium
