// The graph of a vault: a picture to walk in, a search, and the chosen note to read. Everything that a note says is set
// as a text node or drawn as letters.

const ZOOM_STEP = 1.4;
const PAN_STEP = 60; // px
const HITS = 40; // rows of the search at once
const NEIGHBOURS = 150; // links of a note that are listed
const MOST_STEPS = 3;
const COLOUR_NAMES = { theme: "theme", folder: "folder", community: "community" };
const SIZE_NAMES = { links: "links", pagerank: "PageRank" };

const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();

class View extends Frame {
  constructor(model, el) { super(model, el, "wbg"); }

  // -- what is built once ----------------------------------------------------------------------------------------

  build() {
    const { title, paths, links, remarks } = this.data;
    this.picture?.stop();
    this.picture = new Picture(this.data);
    this.places = new Map(paths.map((path, note) => [path, note]));
    this.words = this.data.titles.map((name, note) => [folded(name), folded(paths[note])]);
    this.been = [];
    this.group = -1;
    this.isOnly = false;
    this.hits = [];
    this.hit = -1;
    this.root.setAttribute("aria-label", `Graph of the vault ${title}`);
    this.status = make("span", { class: "wbg-soft", role: "status" });
    this.stage = make("div", {
      class: "wbg-stage", tabindex: "0", role: "application", "aria-roledescription": "graph of notes",
      "aria-label": `${whole(paths.length)} notes and ${whole(links.length / 2)} links. Arrows walk, Enter reads, slash searches.`,
    }, this.picture.base, this.picture.over);
    this.legend = make("div", { class: "wbg-legend", role: "group", "aria-label": "Groups" });
    this.panel = make("div", { class: "wbg-panel", role: "region", "aria-label": "The chosen note", tabindex: "0" });
    this.told = make("p", { class: "wbg-said", "aria-live": "polite" });
    this.counts = `${whole(paths.length)} notes, ${whole(links.length / 2)} links`;
    this.root.append(
      make("div", { class: "wbg-head" }, make("strong", { class: "wbg-title", dir: "auto" }, title), this.status),
      this.bar(),
      ...remarks.map((remark) => make("p", { class: "wbg-soft wbg-note" }, remark)),
      make("div", { class: "wbg-board" }, make("div", { class: "wbg-left" }, this.stage, this.legend), this.panel),
      make("p", { class: "wbg-soft wbg-note" }, "arrows walk, Enter reads, n and p go through the links of the read note, b back, / search, + − 0 zoom (Ctrl with the wheel too), s steps around it, f goes near the focus, o only these, Escape lets go"),
      this.told,
    );
    this.stageHears();
    this.theme();
    this.resize();
    this.search();
    this.refocus();
    this.read();
    const first = this.places.get(this.model.get("chosen")) ?? this.picture.bySize[0] ?? -1;
    this.stop(first, false);
  }

  bar() {
    const results = `wbg-results-${Math.random().toString(36).slice(2)}`;
    this.input = make("input", {
      class: "wbg-input", type: "search", role: "combobox", placeholder: "search notes", "aria-label": "Search notes", "aria-autocomplete": "list",
      "aria-controls": results, "aria-expanded": "false", autocomplete: "off", spellcheck: "false",
    });
    this.input.value = this.model.get("query");
    this.results = make("div", { class: "wbg-results", role: "listbox", id: results, "aria-label": "Found notes" });
    this.results.hidden = true;
    this.colourButtons = Object.keys(COLOUR_NAMES).map((name) => this.choice("colour", name, COLOUR_NAMES[name], name in this.data.groupings));
    this.sizeButtons = Object.keys(SIZE_NAMES).map((name) => this.choice("size", name, SIZE_NAMES[name], name in this.data.sizes));
    this.stepButtons = [...Array(MOST_STEPS + 1).keys()].map((steps) => this.choice("steps", steps, String(steps), true));
    this.only = this.button("only", "Show only what is in focus (o)", "only these", () => this.onlyThese());
    const group = (label, ...buttons) => make("span", { class: "wbg-named" }, make("span", { class: "wbg-soft" }, label), make("span", { class: "wbg-group", role: "group", "aria-label": label }, ...buttons));
    return make("div", { class: "wbg-bar", role: "toolbar", "aria-label": "View" },
      make("span", { class: "wbg-search" }, this.input, this.results),
      group("colour by", ...this.colourButtons), group("size by", ...this.sizeButtons),
      group("steps around", ...this.stepButtons), this.only,
      make("span", { class: "wbg-group", role: "group", "aria-label": "Zoom" },
        this.button("zoom-out", "Zoom out (-)", "−", () => this.picture.zoomed(1 / ZOOM_STEP)),
        this.button("zoom-in", "Zoom in (+)", "+", () => this.picture.zoomed(ZOOM_STEP)),
        this.button("zoom-all", "Show all (0)", "all", () => this.picture.fit())));
  }

  choice(trait, value, name, isThere) {
    const made = this.button(`${trait}-${value}`, `${trait === "steps" ? "Steps around the read note" : `${trait} by`}: ${name}`, name, () => this.tell(trait, value));
    made.disabled = !isThere;
    return made;
  }

  pressed() {
    for (const [trait, buttons] of [["colour", this.colourButtons], ["size", this.sizeButtons], ["steps", this.stepButtons]]) {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each.dataset.act === `${trait}-${this.model.get(trait)}`));
    }
    this.only.setAttribute("aria-pressed", String(this.isOnly));
    this.only.disabled = !this.picture.isFocused && !this.isOnly;
  }

  // -- colours, sizes, focus -------------------------------------------------------------------------------------

  theme() {
    super.theme();
    if (!this.picture) return;
    this.picture.themed(getComputedStyle(this.root));
    this.recolour();
  }

  get grouping() { return this.data.groupings[this.model.get("colour")]; }

  recolour() {
    const style = getComputedStyle(this.root);
    const grouping = this.grouping;
    const { names = ["all notes"], sizes = [this.data.paths.length], of = new Array(this.data.paths.length).fill(0), coloured = 1 } = grouping || {};
    const colours = names.map((_, at) => style.getPropertyValue(at < coloured ? `--k${at + 1}` : at === coloured ? "--rest" : "--none").trim());
    this.groups = { names, of };
    this.picture.grouped(of, colours);
    this.picture.scaled(this.data.sizes[this.model.get("size")] || this.data.sizes.links);
    this.legend.replaceChildren(...names.flatMap((name, at) => (sizes[at] ? [this.legendOf(name, at, colours[at], sizes[at])] : [])));
    this.pressed();
  }

  legendOf(name, at, colour, size) {
    const made = this.button(`group-${at}`, `${name}, ${whole(size)} notes: show where`, "", () => this.pick(at));
    made.classList.add("wbg-key");
    const chip = make("span", { class: "wbg-chip", "aria-hidden": "true" });
    chip.style.background = colour;
    made.replaceChildren(chip, make("span", { class: "wbg-name", dir: "auto" }, name), make("span", { class: "wbg-soft" }, whole(size)));
    made.setAttribute("aria-pressed", String(this.group === at));
    return made;
  }

  pick(group) {
    this.group = this.group === group ? -1 : group;
    for (const key of this.legend.children) key.setAttribute("aria-pressed", String(key.dataset.act === `group-${this.group}`));
    this.refocus();
  }

  get chosen() { return this.places.get(this.model.get("chosen")) ?? -1; }

  // A note is in focus when it fits the search, the picked group and the steps around the chosen note.
  refocus() {
    const { chosen } = this;
    const steps = this.model.get("steps");
    const around = steps && chosen >= 0 ? this.picture.steps(chosen, steps) : null;
    const found = this.model.get("query").trim() ? new Set(this.matches) : null;
    const level = new Int32Array(this.data.paths.length).fill(1);
    for (let note = 0; note < level.length; note += 1) {
      const isOut = (around && around[note] < 0) || (found && !found.has(note)) || (this.group >= 0 && this.groups.of[note] !== this.group);
      if (isOut && !(around && note === chosen)) level[note] = 0;
      else if (around) level[note] = 1 + around[note];
    }
    const isFocused = Boolean(around || found || this.group >= 0);
    if (!isFocused) this.isOnly = false;
    this.picture.focused(level, isFocused, this.isOnly);
    const inside = level.reduce((sum, each) => sum + (each > 0), 0);
    this.status.textContent = isFocused ? `${whole(inside)} in focus, ${this.counts}` : this.counts;
    this.pressed();
  }

  onlyThese() {
    this.isOnly = !this.isOnly;
    this.refocus();
    this.picture.fit();
  }

  nearFocus() {
    this.picture.fit([...this.picture.level.keys()].filter((note) => this.picture.level[note] > 0));
  }

  resize() {
    const { width, height } = this.stage.getBoundingClientRect();
    if (width) this.picture.sized(Math.floor(width), Math.floor(height));
  }

  // -- the search ------------------------------------------------------------------------------------------------

  // Notes of which every word is in the title or the path; titles that begin so come first, then better linked ones.
  search() {
    const words = folded(this.model.get("query")).split(/\s+/).filter(Boolean);
    this.matches = [];
    if (!words.length) return;
    const ranked = [];
    this.words.forEach(([title, path], note) => {
      if (!words.every((word) => title.includes(word) || path.includes(word))) return;
      const rank = title.startsWith(words[0]) ? 0 : words.every((word) => title.includes(word)) ? 1 : 2;
      ranked.push([rank, -this.picture.sizes[note], note]);
    });
    ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    this.matches = ranked.map(([, , note]) => note);
  }

  asked() {
    this.search();
    this.refocus();
    this.hits = this.matches.slice(0, HITS);
    this.hit = this.hits.length ? 0 : -1;
    const rows = this.hits.map((note, at) => {
      const row = make("div", { class: "wbg-hit", role: "option", id: `${this.results.id}-${at}`, "aria-selected": String(at === this.hit) },
        make("span", { dir: "auto" }, this.data.titles[note]), make("span", { class: "wbg-soft", dir: "auto" }, this.data.paths[note]));
      row.addEventListener("pointerdown", (event) => { event.preventDefault(); this.take(at); });
      return row;
    });
    const more = this.matches.length - this.hits.length;
    if (more > 0) rows.push(make("div", { class: "wbg-soft wbg-more" }, `and ${whole(more)} more`));
    if (!rows.length && this.model.get("query").trim()) rows.push(make("div", { class: "wbg-soft wbg-more" }, "no note has these words in its title or path"));
    this.results.replaceChildren(...rows);
    this.unfold(rows.length > 0 && document.activeElement === this.input);
  }

  unfold(isOpen) {
    this.results.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    if (isOpen && this.hit >= 0) this.input.setAttribute("aria-activedescendant", `${this.results.id}-${this.hit}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  walkHits(step) {
    if (!this.hits.length) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    [...this.results.querySelectorAll(".wbg-hit")].forEach((row, at) => {
      row.setAttribute("aria-selected", String(at === this.hit));
      if (at === this.hit) row.scrollIntoView({ block: "nearest" });
    });
    this.unfold(true);
  }

  take(at) {
    const note = this.hits[at];
    if (note === undefined) return;
    this.tell("query", ""); // else only what it found would be in focus around the note
    this.unfold(false);
    this.choose(note);
    this.stage.focus({ preventScroll: true });
  }

  // -- walking ---------------------------------------------------------------------------------------------------

  stop(note, isTold = true) {
    this.current = note;
    this.picture.marked({ current: document.activeElement === this.stage ? note : -1 });
    if (note < 0 || !isTold) return;
    this.picture.reveal(note);
    const links = this.picture.linksOf(note).length;
    this.told.textContent = `${this.data.titles[note]}, ${this.groups.names[this.groups.of[note]]}, ${whole(links)} links`;
  }

  beside(step) {
    const from = this.chosen >= 0 ? this.chosen : this.current;
    if (from < 0) return;
    const all = [...new Set([...this.picture.linksOf(from)].map((link) => this.picture.other(link, from)))].filter((note) => this.picture.isShown(note));
    if (!all.length) return;
    const here = all.indexOf(this.current);
    this.stop(all[(here + step + all.length + (here < 0 && step < 0 ? 1 : 0)) % all.length]);
  }

  back() {
    const note = this.been.pop();
    if (note === undefined) return;
    this.choose(note, false);
  }

  letGo() {
    this.group = -1;
    this.isOnly = false;
    this.input.value = "";
    this.tell("query", "");
    this.tell("chosen", "");
    this.recolour();
    this.refocus();
    this.picture.fit();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const walk = (dx, dy) => (event.shiftKey ? this.picture.moved(-dx * PAN_STEP, -dy * PAN_STEP) : this.go(dx, dy));
    const next = (names, now) => names[(names.indexOf(now) + 1) % names.length];
    const acts = {
      ArrowLeft: () => walk(-1, 0), ArrowRight: () => walk(1, 0), ArrowUp: () => walk(0, -1), ArrowDown: () => walk(0, 1),
      Enter: () => this.current >= 0 && this.choose(this.current), " ": () => this.current >= 0 && this.choose(this.current),
      f: () => this.nearFocus(), n: () => this.beside(1), p: () => this.beside(-1), b: () => this.back(), o: () => !this.only.disabled && this.onlyThese(),
      "+": () => this.picture.zoomed(ZOOM_STEP), "=": () => this.picture.zoomed(ZOOM_STEP), "-": () => this.picture.zoomed(1 / ZOOM_STEP), 0: () => this.picture.fit(),
      c: () => this.tell("colour", next(Object.keys(this.data.groupings), this.model.get("colour"))),
      s: () => this.tell("steps", (this.model.get("steps") + 1) % (MOST_STEPS + 1)),
      "/": () => this.input.focus(), Escape: () => this.letGo(),
      Home: () => this.stop(this.picture.bySize[0] ?? -1),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  go(dx, dy) {
    const to = this.current < 0 ? this.picture.bySize[0] ?? -1 : this.picture.towards(this.current, dx, dy);
    if (to >= 0) this.stop(to);
  }

  inputKey(event) {
    const acts = {
      ArrowDown: () => this.walkHits(1), ArrowUp: () => this.walkHits(-1), Enter: () => this.take(this.hit),
      Escape: () => { if (this.results.hidden) this.letGo(); else this.unfold(false); },
    };
    event.stopPropagation();
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  // -- reading ---------------------------------------------------------------------------------------------------

  choose(note, isNew = true) {
    const before = this.chosen;
    if (isNew && before >= 0 && before !== note) this.been.push(before);
    this.tell("chosen", this.data.paths[note]);
  }

  chose() {
    const { chosen } = this;
    this.picture.marked({ chosen });
    this.refocus();
    if (chosen >= 0) this.stop(chosen);
    this.read();
  }

  read() {
    const { chosen } = this;
    this.picture.marked({ chosen });
    if (chosen < 0) {
      this.panel.replaceChildren(make("p", { class: "wbg-soft" }, "Click a note, or press Enter on it, to read it here."));
      return;
    }
    const detail = this.model.get("detail") || {};
    const isThere = detail.path === this.data.paths[chosen];
    const problem = isThere && detail.problem ? [make("p", { class: "wbg-bad" }, detail.problem)] : [];
    const text = isThere && !detail.problem ? [make("pre", { class: "wbg-text", tabindex: "0", dir: "auto" }, detail.text)] : [];
    this.panel.replaceChildren(
      make("h3", { class: "wbg-detail", dir: "auto" }, this.data.titles[chosen]),
      make("p", { class: "wbg-soft wbg-path", dir: "auto" }, this.data.paths[chosen]),
      this.facts([...this.groupFacts(chosen), ...(isThere ? detail.facts : [])]),
      ...problem, ...this.neighbours(chosen), ...text,
    );
    this.panel.scrollTop = 0;
  }

  groupFacts(note) {
    return Object.entries(this.data.groupings)
      .filter(([, { of, coloured }]) => of[note] !== coloured)
      .map(([name, { names, of }]) => [COLOUR_NAMES[name], names[of[note]]]);
  }

  neighbours(note) {
    const links = [...this.picture.linksOf(note)];
    const lists = [["links to", 0], ["linked from", 1]].map(([name, end]) => {
      const mine = links.filter((link) => this.data.links[2 * link + end] === note);
      return [name, mine.map((link) => [this.data.links[2 * link + 1 - end], this.data.sequential[link]])];
    });
    return lists.flatMap(([name, found]) => {
      if (!found.length) return [];
      const shown = found.slice(0, NEIGHBOURS).map(([other, isNext]) => {
        const made = this.button("go", `${this.data.titles[other]}${isNext ? ", continues" : ""}`, this.data.titles[other], () => this.choose(other));
        made.dir = "auto";
        if (isNext) made.prepend(make("span", { class: "wbg-next", "aria-hidden": "true" }, "⇢ "));
        return make("li", {}, made);
      });
      const more = found.length - shown.length;
      if (more > 0) shown.push(make("li", { class: "wbg-soft" }, `and ${whole(more)} more`));
      return [make("h4", { class: "wbg-part" }, `${name} ${whole(found.length)}`), make("ul", { class: "wbg-links" }, ...shown)];
    });
  }

  // -- what comes from outside -----------------------------------------------------------------------------------

  stageHears() {
    let down = null;
    const place = (event) => {
      const { left, top } = this.stage.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top];
    };
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      down = { at: place(event), last: place(event), isDrag: false };
      this.stage.setPointerCapture(event.pointerId);
    });
    this.stage.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (!down) { this.hover(this.picture.found(x, y)); return; }
      if (!down.isDrag && Math.hypot(x - down.at[0], y - down.at[1]) < 4) return;
      down.isDrag = true;
      this.picture.moved(x - down.last[0], y - down.last[1]);
      down.last = [x, y];
    });
    this.stage.addEventListener("pointerup", (event) => {
      const note = down && !down.isDrag ? this.picture.found(...place(event)) : -1;
      down = null;
      if (note >= 0) { this.current = note; this.choose(note); }
    });
    this.stage.addEventListener("pointercancel", () => { down = null; });
    this.stage.addEventListener("pointerleave", () => { if (!down) this.hover(-1); });
    this.stage.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.stage) return;
      event.preventDefault();
      this.picture.zoomed(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 160), ...place(event));
    }, { passive: false });
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("focus", () => this.picture.marked({ current: this.current }));
    this.stage.addEventListener("blur", () => this.picture.marked({ current: -1 }));
    this.input.addEventListener("input", () => this.tell("query", this.input.value));
    this.input.addEventListener("keydown", (event) => this.inputKey(event));
    this.input.addEventListener("blur", () => this.unfold(false));
    this.sized?.disconnect();
    this.sized = new ResizeObserver(() => this.resize());
    this.sized.observe(this.stage);
  }

  hover(note) {
    if (note === this.picture.marks.hovered) return;
    this.stage.title = note < 0 ? "" : this.data.titles[note];
    this.stage.dataset.hovered = note < 0 ? "" : this.data.paths[note];
    this.picture.marked({ hovered: note });
  }

  hear() {
    this.on("change:chosen", () => this.chose());
    this.on("change:query", () => { if (this.input.value !== this.model.get("query")) this.input.value = this.model.get("query"); this.asked(); });
    this.on("change:colour", () => { this.group = -1; this.recolour(); this.refocus(); });
    this.on("change:size", () => this.recolour());
    this.on("change:steps", () => this.refocus());
    this.on("change:detail", () => this.read());
    this.undo.push(() => this.picture.stop(), () => this.sized.disconnect());
  }
}

export default rendered(View);
