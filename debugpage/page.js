// The page asks for itself, and takes over what has changed. What has not stays as it is,
// and with it focus, selection, what is folded out, and how far it is scrolled.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const every = Number(document.documentElement.dataset.refresh);
  const pause = $("pause"), note = $("note");
  let paused = false, timer = 0, asking = false, failed = 0;
  let took = 0; // ms for a refresh: a page that is large is refreshed less often
  let wasOpen; // the list of fresh informers, before it was filtered

  // What a person has done to the page is not the server's to undo.
  const theirs = new Set(["open", "hidden"]);

  const attributes = (old, now) => {
    for (const { name } of [...old.attributes]) {
      if (!now.hasAttribute(name) && !theirs.has(name)) old.removeAttribute(name);
    }
    for (const { name, value } of now.attributes) {
      if (old.getAttribute(name) !== value && !theirs.has(name)) old.setAttribute(name, value);
    }
  };

  const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");

  // put moves a node without taking its focus away, where browsers can.
  const put = (parent, node, before) => {
    if (node.isConnected && parent.moveBefore) parent.moveBefore(node, before);
    else parent.insertBefore(node, before);
  };

  // children makes those of old into those of now. One with an id is found wherever it was.
  const children = (old, now) => {
    let at = old.firstChild;
    for (const want of [...now.childNodes]) {
      let have = at;
      if (want.id) {
        const same = $(want.id);
        if (same && same.nodeName === want.nodeName && !same.contains(old)) have = same;
      }
      if (!have || !alike(have, want)) {
        // A node with an id may come back further on; others give way.
        old.insertBefore(document.importNode(want, true), at);
        continue;
      }
      if (have === at) at = at.nextSibling;
      else put(old, have, at);
      if (have.nodeType === Node.ELEMENT_NODE) update(have, want);
      else if (have.data !== want.data) have.data = want.data;
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  };

  // What is folded in waits until somebody looks: of a thousand informers that is most.
  const behind = new WeakMap();

  const update = (old, now) => {
    if (old.isEqualNode(now)) return;
    attributes(old, now);
    if (old.nodeName === "DETAILS" && !old.open) {
      behind.set(old, now);
      update(old.querySelector("summary"), now.querySelector("summary"));
    } else {
      children(old, now);
    }
  };

  const catchUp = (details) => {
    const now = behind.get(details);
    behind.delete(details);
    if (now) children(details, now);
  };

  const say = (text, trouble) => {
    note.classList.toggle("trouble", Boolean(trouble));
    if (note.textContent !== text) note.textContent = text;
  };

  const clock = () => new Date().toISOString().slice(11, 19) + " UTC";

  // An informer whose verdict changes may have got another row, and the focus goes with it.
  const refocus = (focused, home) => {
    if (!focused || focused === document.activeElement) return;
    let to = focused.isConnected ? focused : $(home)?.querySelector("summary");
    if (!to?.checkVisibility()) to = $("fresh-ones")?.querySelector("summary");
    to?.focus({ preventScroll: true });
  };

  const show = (page) => {
    const focused = document.activeElement, home = focused?.closest("[id]")?.id;
    document.title = page.title;
    update($("tab-icon"), page.getElementById("tab-icon"));
    update($("main"), page.getElementById("main"));
    filter();
    refocus(focused, home);
  };

  const refresh = async () => {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    try {
      const answer = await fetch(location.pathname, {
        headers: { Accept: "text/html" }, cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(15000),
      });
      if (!answer.ok) throw new Error("the answer was " + answer.status + " " + answer.statusText);
      const text = await answer.text(), begin = performance.now();
      const page = new DOMParser().parseFromString(text, "text/html");
      if (!page.getElementById("diagnosis")) throw new Error("something else answered");
      show(page);
      took = performance.now() - begin;
      failed = 0;
      if (!paused) say("");
    } catch (error) {
      failed++;
      if (failed === 1) say("No news since " + clock() + ": " + error.message + ". What is shown is older. It is tried again.", true);
    } finally {
      asking = false;
      plan();
    }
  };

  const plan = () => {
    clearTimeout(timer);
    if (every && !paused && !document.hidden) timer = setTimeout(refresh, Math.max(every * Math.min(2 ** failed, 12), Math.min(10 * took, 30000)));
  };

  const filter = () => {
    const box = $("filter");
    if (!box) return;
    box.hidden = false;
    const words = $("filter-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = $("fresh-ones");
    let all = 0, left = 0;
    for (const row of document.querySelectorAll(".informer")) {
      const text = row.querySelector("summary").textContent.toLowerCase();
      const hit = words.every((word) => text.includes(word));
      all++;
      if (hit) left++;
      if (row.hidden === hit) row.hidden = !hit;
    }
    if (group && words.length && wasOpen === undefined) {
      wasOpen = group.open;
      group.open = true;
      catchUp(group);
    } else if (group && !words.length && wasOpen !== undefined) {
      group.open = wasOpen;
      wasOpen = undefined;
    }
    const count = words.length ? left + " of " + all : "";
    if ($("filter-count").textContent !== count) $("filter-count").textContent = count;
  };

  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    if (paused) {
      clearTimeout(timer);
      say("Paused at " + clock() + ".");
    } else {
      say("");
      refresh();
    }
  });
  $("again").addEventListener("click", refresh);
  document.addEventListener("input", (event) => {
    if (event.target.id === "filter-text") filter();
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.open) catchUp(event.target);
  }, true);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || paused || !every) clearTimeout(timer);
    else refresh();
  });
  filter();
  if (location.protocol.startsWith("http")) {
    $("live").hidden = !every;
    plan();
  } else {
    say("This is a saved copy: it shows what was known when it was saved.");
  }
})();
