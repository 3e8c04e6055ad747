// The anatomy of a prompt. Everything that a transcript says is set as textContent; nothing is fetched.
// Parts and units are two listboxes with a roving tab stop each; bars are placed in per cent.

const PAGE = 10; // rows of one Page Up or Page Down
const TIGHT = 0.5; // a fuller prompt is drawn against the budget at first
const COLOURS = 6; // of terms and parts, wba-c0 to wba-c5
const SHOWN = ["all", "in", "out", "moved"]; // as in anatomy.py
const SHOWN_NAMES = { all: "all", in: "in the prompt", out: "left out", moved: "moved" };

const percent = (part) => `${Math.min(100, Math.max(0, 100 * part))}%`;
const share = (part) => (part > 0 && part < 0.001 ? "< 0.1 %" : `${(100 * part).toFixed(1)} %`);
const bar = (kind, size) => {
  const made = make("span", { class: kind });
  made.style.width = percent(size);
  return made;
};

class View extends Frame {
  constructor(model, el) { super(model, el, "wba"); }

  // -- what is built once ----------------------------------------------------------------------------------------

  build() {
    const { title, session_id: id, where, facts, notes, usable, tokens } = this.data;
    this.nodes = new Map();
    this.stops = {};
    this.against = tokens > TIGHT * usable ? "budget" : "prompt";
    this.lists = { parts: this.parts(), units: this.units() };
    this.root.setAttribute("aria-label", `Anatomy of a prompt of the session ${title}`);
    this.panel = make("div", { class: "wba-panel", role: "region", "aria-label": "What is chosen", tabindex: "0" });
    this.count = make("span", { class: "wba-soft", role: "status" });
    this.root.append(
      make("div", { class: "wba-head" }, make("strong", { class: "wba-title", title: id }, title), make("span", { class: "wba-soft" }, where)),
      this.facts(facts),
      this.scales(),
      this.strip(),
      this.lists.parts,
      ...this.heading(),
      ...notes.map((note) => make("p", { class: "wba-soft wba-note" }, note)),
      this.lists.units,
      this.panel,
    );
    this.draw();
    this.filter();
    this.marked();
    this.read();
  }

  scales() {
    const group = make("span", { class: "wba-group", role: "group", "aria-label": "Parts against" });
    this.scaleButtons = ["prompt", "budget"].map((name) =>
      this.button(`against-${name}`, `Parts against the ${name === "budget" ? "usable budget" : "prompt"}`, name, () => {
        this.against = name;
        this.draw();
      }));
    group.append(...this.scaleButtons);
    const keys = "up, down walk; left, right: parts, units; Enter reads; f filters";
    return make("div", { class: "wba-bar", role: "toolbar", "aria-label": "View of the parts" },
      make("span", { class: "wba-soft" }, "parts against the"), group, make("span", { class: "wba-soft" }, keys));
  }

  strip() {
    const says = `${whole(this.data.tokens)} of ${whole(this.data.usable)} tokens: ${this.data.parts.map((part) => part.says).join("; ")}`;
    this.segments = this.data.parts.map((part, number) => {
      const made = make("span", { class: `wba-segment wba-c${number % COLOURS}`, title: part.says });
      made.addEventListener("click", () => { this.focus(part.id); this.choose(part.id); });
      return made;
    });
    return make("div", { class: "wba-strip", role: "img", "aria-label": says }, ...this.segments);
  }

  parts() {
    const list = make("div", { class: "wba-parts", role: "listbox", "aria-label": "Parts of the prompt" });
    this.data.parts.forEach((part, number) => {
      const fill = make("span", { class: `wba-fill wba-c${number % COLOURS}` });
      const cut = part.was_tokens === null ? [] : [make("span", { class: "wba-out" }, `cut from ${whole(part.was_tokens)}`)];
      const row = this.row("parts", part, "wba-part",
        make("span", { class: `wba-chip wba-c${number % COLOURS}`, "aria-hidden": "true" }),
        make("span", { class: "wba-name" }, part.name),
        make("span", { class: "wba-track" }, fill),
        make("span", { class: "wba-number" }, whole(part.tokens)),
        make("span", { class: "wba-number wba-soft" }, share(part.part)),
        ...cut);
      row.fill = fill;
      list.append(row);
    });
    return list;
  }

  heading() {
    const legend = make("span", { class: "wba-legend" });
    this.data.terms.forEach((name, number) => {
      if (!this.data.units.some((unit) => unit.terms[number])) return;
      legend.append(make("span", {}, make("span", { class: `wba-chip wba-c${number % COLOURS}`, "aria-hidden": "true" }), name));
    });
    const group = make("span", { class: "wba-group", role: "group", "aria-label": "Units shown" });
    this.showButtons = SHOWN.map((name) =>
      this.button(`show-${name}`, `Show units: ${SHOWN_NAMES[name]} (f)`, SHOWN_NAMES[name], () => this.tell("show", name)));
    this.showButtons.at(-1).disabled = !this.data.units.some((unit) => unit.moved);
    group.append(...this.showButtons);
    return [
      make("h3", { class: "wba-heading" }, "Units on offer"),
      make("div", { class: "wba-bar", role: "toolbar", "aria-label": "View of the units" }, group, this.count, legend),
    ];
  }

  units() {
    const list = make("div", { class: "wba-units", role: "listbox", "aria-label": "Units on offer" });
    const most = Math.max(1e-9, ...this.data.units.map((unit) => this.length(unit)));
    let band = "";
    let group = list;
    for (const unit of this.data.units) {
      if (unit.band !== band) {
        band = unit.band;
        group = make("div", { role: "group", class: "wba-band", "aria-label": `${band} band` }, make("div", { class: "wba-band-name", "aria-hidden": "true" }, `${band} band`));
        list.append(group);
      }
      group.append(this.unit(unit, most));
    }
    return list;
  }

  // A pinned unit's term is a thousand times the others': its bar is as long as the place, and no scale for the rest.
  length(unit) { return unit.terms.slice(1).reduce((sum, term) => sum + Math.abs(term), 0); }

  unit(unit, most) {
    const bars = make("span", { class: "wba-track" });
    unit.terms.forEach((term, number) => {
      if (!term) return;
      const made = bar(`wba-term wba-c${number % COLOURS}${term < 0 ? " wba-minus" : ""}`, number === 0 ? 1 : Math.abs(term) / most);
      made.title = `${this.data.terms[number]} ${term.toFixed(4)}`;
      bars.append(made);
    });
    const moved = unit.moved ? [make("span", { class: "wba-moved" }, unit.moved === "in" ? "▲ now in" : "▼ now out")] : [];
    const verdict = make("span", { class: unit.is_in ? "wba-in" : "wba-out", title: unit.why }, unit.is_in ? "✓ in" : "✕ out", ...moved);
    return this.row("units", unit, `wba-unit${unit.is_in ? "" : " wba-left"}`,
      make("span", { class: "wba-number wba-soft" }, unit.rank),
      make("span", { class: "wba-kind" }, unit.kind),
      make("span", { class: "wba-label" }, unit.label),
      make("span", { class: "wba-number wba-soft", title: "tokens" }, whole(unit.tokens)),
      bars,
      make("span", { class: "wba-number" }, unit.score.toFixed(3)),
      verdict);
  }

  row(list, item, kind, ...children) {
    const made = make("div", {
      class: `wba-row ${kind}`, role: "option", tabindex: "-1", "aria-selected": "false", "aria-label": item.says,
      title: item.says, "data-id": item.id, "data-list": list,
    }, ...children);
    made.addEventListener("click", () => { this.focus(item.id); this.choose(item.id); });
    made.addEventListener("focus", () => this.stop(made));
    this.nodes.set(item.id, made);
    return made;
  }

  // -- what changes ----------------------------------------------------------------------------------------------

  draw() {
    const { parts, tokens, usable } = this.data;
    const sum = parts.reduce((all, part) => all + part.tokens, 0);
    const room = Math.max(1, this.against === "budget" ? Math.max(usable, sum) : sum);
    const largest = Math.max(1, ...parts.map((part) => part.tokens));
    parts.forEach((part, number) => {
      this.segments[number].style.width = percent(part.tokens / room);
      this.nodes.get(part.id).fill.style.width = percent(part.tokens / (this.against === "budget" ? Math.max(usable, sum) : largest));
    });
    for (const made of this.scaleButtons) {
      made.setAttribute("aria-pressed", String(made.dataset.act === `against-${this.against}`));
    }
    this.root.dataset.full = String(tokens > usable);
  }

  filter() {
    const show = this.model.get("show");
    const fits = { all: () => true, in: (unit) => unit.is_in, out: (unit) => !unit.is_in, moved: (unit) => unit.moved }[show];
    let shown = 0;
    for (const unit of this.data.units) {
      const is = Boolean(fits(unit));
      this.nodes.get(unit.id).hidden = !is;
      shown += is;
    }
    for (const group of this.lists.units.children) group.hidden = !group.querySelector(".wba-row:not([hidden])");
    this.count.textContent = `${whole(shown)} of ${whole(this.data.units.length)} shown`;
    for (const made of this.showButtons) made.setAttribute("aria-pressed", String(made.dataset.act === `show-${show}`));
    for (const list of Object.keys(this.lists)) this.first(list);
  }

  // Each list has one tab stop: where one was last, else its first row.
  first(list) {
    const rows = this.rows(list);
    if (rows.length && !rows.includes(this.stops[list])) this.stop(rows[0]);
  }

  rows(list) { return [...this.lists[list].querySelectorAll(".wba-row:not([hidden])")]; }

  stop(row) {
    const list = row.dataset.list;
    if (this.stops[list]) this.stops[list].setAttribute("tabindex", "-1");
    this.stops[list] = row;
    row.setAttribute("tabindex", "0");
  }

  focus(id) {
    const row = this.nodes.get(id);
    if (!row || row.hidden) return;
    this.stop(row);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = event.target.closest(".wba-row");
    if (!row) return;
    const rows = this.rows(row.dataset.list);
    const here = rows.indexOf(row);
    const go = (place) => this.focus(rows[Math.min(rows.length - 1, Math.max(0, place))].dataset.id);
    const across = (list) => this.rows(list).length && this.focus(this.stops[list].dataset.id);
    const acts = {
      ArrowUp: () => go(here - 1), ArrowDown: () => go(here + 1), PageUp: () => go(here - PAGE), PageDown: () => go(here + PAGE),
      Home: () => go(0), End: () => go(rows.length - 1), ArrowLeft: () => across("parts"), ArrowRight: () => across("units"),
      Enter: () => this.choose(row.dataset.id), " ": () => this.choose(row.dataset.id),
      f: () => this.next(),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  next() {
    const names = SHOWN.filter((name, number) => !this.showButtons[number].disabled);
    this.tell("show", names[(names.indexOf(this.model.get("show")) + 1) % names.length]);
    if (!this.root.contains(document.activeElement) || document.activeElement.hidden) {
      const list = this.rows("units").length ? "units" : "parts";
      this.focus(this.stops[list].dataset.id);
    }
  }

  // -- reading ---------------------------------------------------------------------------------------------------

  choose(id) {
    this.tell("chosen", id);
    this.marked();
    this.read();
  }

  marked() {
    const chosen = this.model.get("chosen");
    for (const [id, node] of this.nodes) node.setAttribute("aria-selected", String(id === chosen));
  }

  read() {
    const chosen = this.model.get("chosen");
    const row = this.nodes.get(chosen);
    if (!row) {
      this.panel.replaceChildren(make("p", { class: "wba-soft" }, "Click a part or a unit, or press Enter on it, to read it here."));
      return;
    }
    const detail = this.model.get("detail") || {};
    if (detail.id !== chosen) {
      this.panel.replaceChildren(make("p", { class: "wba-soft" }, row.getAttribute("aria-label")));
      return;
    }
    this.panel.replaceChildren(
      make("h3", { class: "wba-detail" }, detail.title), this.facts(detail.facts), ...this.sum(detail.terms),
      make("pre", { class: "wba-text", tabindex: "0" }, detail.text),
    );
    this.panel.scrollTop = 0;
  }

  sum(terms) {
    if (!terms.length) return [];
    const body = make("tbody");
    terms.forEach(([name, value], number) => {
      const isSum = number === terms.length - 1;
      const chip = make("span", { class: `wba-chip wba-c${number % COLOURS}`, "aria-hidden": "true" });
      body.append(make("tr", { class: isSum ? "wba-sum" : "" },
        make("th", { scope: "row" }, ...(isSum ? [] : [chip]), name), make("td", {}, value.toFixed(6))));
    });
    return [make("table", { class: "wba-terms" }, make("caption", {}, "Terms of the score"), body)];
  }

  // -- what comes from outside -----------------------------------------------------------------------------------

  hear() {
    this.on("change:chosen", () => { this.marked(); this.read(); });
    this.on("change:show", () => this.filter());
    this.on("change:detail", () => this.read());
    this.root.addEventListener("keydown", (event) => this.key(event));
  }
}

export default rendered(View);
