// The session timeline. Everything that a transcript says is set as textContent; nothing is fetched.
// Items are options of a listbox with a roving tab stop, placed in per cent of a sheet whose width is the zoom.

const ROW = 16; // height of a row, px
const PAD = 5; // above and below the rows of a lane, px
const TICK_ROOM = 92; // a tick nearer to the one before it has no label, px
const LABEL_ROOM = 34; // a narrower item has no label, px
const STEP = 1.5; // one zoom step
const MOST = 200; // the most zoom; as in timeline.py

class View extends Frame {
  constructor(model, el) { super(model, el, "wbt"); }

  get scale() { return this.model.get("scale"); }
  get length() { return this.data.lengths[this.scale] || 1; }
  get scales() { return Object.keys(this.data.lengths); }

  // -- what is built once ----------------------------------------------------------------------------------------

  build() {
    const { title, session_id: id, lanes, items, notes } = this.data;
    this.nodes = new Map();
    this.byLane = lanes.map(() => []);
    this.sheet = make("div", {
      class: "wbt-sheet", role: "listbox", "aria-orientation": "horizontal", "aria-label": `Items of the session ${title}`,
    });
    this.scroller = make("div", { class: "wbt-scroller" }, this.sheet);
    this.names = make("div", { class: "wbt-names", "aria-hidden": "true" });
    this.ticks = make("div", { class: "wbt-ticks", "aria-hidden": "true" });
    this.pauses = make("div", { class: "wbt-pauses", "aria-hidden": "true" });
    this.lines = make("div", { class: "wbt-lines", "aria-hidden": "true" });
    this.sheet.append(this.pauses, this.lines, this.ticks);
    lanes.forEach((lane, number) => {
      const height = `${lane.rows * ROW + 2 * PAD}px`;
      const name = make("div", { class: "wbt-name", title: lane.name }, lane.name);
      const track = make("div", { class: "wbt-lane", role: "group", "aria-label": lane.name });
      name.style.height = track.style.height = height;
      this.names.append(name);
      this.sheet.append(track);
      for (const item of items) if (item.lane === number) track.append(this.item(item));
    });
    this.status = make("span", { class: "wbt-status", role: "status" });
    this.panel = make("div", { class: "wbt-panel", role: "region", "aria-label": "The chosen item", tabindex: "0" });
    this.root.setAttribute("aria-label", `Timeline of the session ${title}`);
    this.root.append(
      make("div", { class: "wbt-head" }, make("strong", { class: "wbt-title", title: id }, title), this.status),
      this.bar(),
      ...notes.map((note) => make("p", { class: "wbt-note" }, note)),
      make("div", { class: "wbt-board" }, this.names, this.scroller),
      this.panel,
    );
    const failed = items.filter((item) => item.is_failed).length;
    const told = [`${items.length} items`, `${failed} failed`];
    this.status.textContent = told.join(", ");
    this.current = null;
    const first = this.byLane.flat()[0];
    if (first) this.stop(first);
    this.place();
    this.marked();
    this.read();
  }

  item(item) {
    const sign = item.is_failed ? "✕" : { compaction: "◆", interrupt: "■" }[item.kind] || "";
    const made = make("div", {
      class: `wbt-item wbt-${item.kind}${item.is_failed ? " wbt-failed" : ""}`, role: "option", tabindex: "-1",
      "aria-selected": "false", "aria-label": item.says, title: item.says, "data-id": item.id, "data-turn": item.turn,
    });
    if (sign) made.append(make("span", { class: "wbt-sign" }, sign));
    made.append(make("span", { class: "wbt-label" }, item.label));
    made.style.top = `${PAD + item.row * ROW}px`;
    made.addEventListener("click", () => { this.focus(item); this.choose(item); });
    made.addEventListener("focus", () => this.stop(item));
    this.nodes.set(item.id, made);
    this.byLane[item.lane].push(item);
    return made;
  }

  bar() {
    const scales = make("span", { class: "wbt-group", role: "group", "aria-label": "Length by" });
    this.scaleButtons = ["time", "tokens"].map((name) => {
      const made = this.button(`scale-${name}`, `Length by ${name}`, name, () => this.rescale(name));
      made.disabled = !this.scales.includes(name);
      return made;
    });
    scales.append(...this.scaleButtons);
    const zoom = make("span", { class: "wbt-group", role: "group", "aria-label": "Zoom" });
    zoom.append(
      this.button("zoom-out", "Zoom out (-)", "−", () => this.zoom(1 / STEP)),
      this.button("zoom-in", "Zoom in (+)", "+", () => this.zoom(STEP)),
      this.button("zoom-all", "Show all (0)", "all", () => this.zoom(0)),
    );
    const error = this.button("next-failure", "Next failure (e)", "next failure", () => this.failure());
    error.disabled = !this.data.items.some((item) => item.is_failed);
    const keys = make("span", { class: "wbt-keys" }, "arrows walk, Enter reads, + − 0 zoom, e next failure, t time or tokens");
    return make("div", { class: "wbt-bar", role: "toolbar", "aria-label": "View" }, scales, zoom, error, keys);
  }

  // -- what changes with scale and zoom --------------------------------------------------------------------------

  place() {
    const whole = this.length;
    const percent = (value) => `${(100 * value) / whole}%`;
    this.sheet.style.width = `${100 * this.model.get("zoom")}%`;
    const wide = this.sheet.getBoundingClientRect().width || 800;
    for (const item of this.data.items) {
      const node = this.nodes.get(item.id);
      const [start, length] = item.places[this.scale] || [0, 0];
      const isMark = item.kind === "compaction" || item.kind === "interrupt";
      node.style.left = percent(start);
      node.style.width = isMark ? "" : percent(length);
      node.classList.toggle("wbt-narrow", !isMark && (length / whole) * wide < LABEL_ROOM);
    }
    this.ticks.replaceChildren(...this.spaced(this.data.ticks[this.scale] || [], wide / whole, percent, "wbt-tick"));
    const pauses = this.scale === "time" ? this.data.pauses : [];
    this.pauses.replaceChildren(...pauses.map(([at, lasted]) => {
      const made = make("div", { class: "wbt-pause", title: `a pause of ${lasted}, drawn short` });
      made.style.left = percent(at);
      return made;
    }));
    const marks = this.data.items.filter((item) => item.kind === "compaction" || item.kind === "interrupt");
    this.lines.replaceChildren(...marks.map((item) => {
      const made = make("div", { class: `wbt-line wbt-line-${item.kind}` });
      made.style.left = percent((item.places[this.scale] || [0])[0]);
      return made;
    }));
    for (const made of this.scaleButtons) {
      made.setAttribute("aria-pressed", String(made.dataset.act === `scale-${this.scale}`));
    }
  }

  spaced(ticks, perUnit, percent, name) {
    let last = -Infinity;
    const end = this.length * perUnit;
    return ticks.filter(([at]) => {
      const x = at * perUnit;
      const fits = x - last >= TICK_ROOM && (x + TICK_ROOM <= end || last === -Infinity);
      if (fits) last = x;
      return fits;
    }).map(([at, label]) => {
      const made = make("div", { class: name }, label);
      made.style.left = percent(at);
      return made;
    });
  }

  rescale(name) {
    if (this.scales.includes(name)) this.tell("scale", name);
  }

  zoom(factor) {
    const before = this.model.get("zoom");
    const after = factor ? Math.min(MOST, Math.max(1, before * factor)) : 1;
    this.anchor = this.current && this.nodes.get(this.current.id);
    this.tell("zoom", Math.abs(after - 1) < 0.01 ? 1 : after);
  }

  center(node) {
    if (!node) return;
    const middle = node.offsetLeft + Math.min(node.offsetWidth, this.scroller.clientWidth) / 2;
    this.scroller.scrollLeft = middle - this.scroller.clientWidth / 2;
  }

  // -- walking ---------------------------------------------------------------------------------------------------

  stop(item) {
    if (this.current) this.nodes.get(this.current.id)?.setAttribute("tabindex", "-1");
    this.current = item;
    this.nodes.get(item.id).setAttribute("tabindex", "0");
  }

  focus(item) {
    this.stop(item);
    const node = this.nodes.get(item.id);
    node.focus({ preventScroll: true });
    const left = node.offsetLeft - this.scroller.scrollLeft;
    if (left < 0 || left > this.scroller.clientWidth - 20) this.center(node);
    node.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  start(item) { return (item.places[this.scale] || [0])[0]; }

  beside(step) {
    const lane = this.byLane[this.current.lane];
    return lane[lane.indexOf(this.current) + step];
  }

  across(step) {
    const lane = this.byLane[this.current.lane + step];
    if (!lane || !lane.length) return undefined;
    const here = this.start(this.current);
    return lane.reduce((best, item) => Math.abs(this.start(item) - here) < Math.abs(this.start(best) - here) ? item : best);
  }

  failure() {
    const failed = this.data.items.filter((item) => item.is_failed).sort((a, b) => this.start(a) - this.start(b));
    if (!failed.length) return;
    const here = this.current ? this.start(this.current) : -1;
    const after = failed.find((item) => item !== this.current && this.start(item) > here);
    this.focus(after || failed[0]);
  }

  key(event) {
    if (!this.current || event.altKey || event.ctrlKey || event.metaKey || !this.sheet.contains(event.target)) return;
    const lane = this.byLane[this.current.lane];
    const go = (item) => item && this.focus(item);
    const acts = {
      ArrowLeft: () => go(this.beside(-1)), ArrowRight: () => go(this.beside(1)),
      ArrowUp: () => go(this.across(-1)), ArrowDown: () => go(this.across(1)),
      Home: () => go(lane[0]), End: () => go(lane[lane.length - 1]),
      Enter: () => this.choose(this.current), " ": () => this.choose(this.current),
      "+": () => this.zoom(STEP), "=": () => this.zoom(STEP), "-": () => this.zoom(1 / STEP), 0: () => this.zoom(0),
      e: () => this.failure(), t: () => this.rescale(this.scale === "time" ? "tokens" : "time"),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // -- reading ---------------------------------------------------------------------------------------------------

  choose(item) {
    this.tell("chosen", item.id);
    this.marked();
    this.read();
  }

  marked() {
    const chosen = this.model.get("chosen");
    for (const [id, node] of this.nodes) node.setAttribute("aria-selected", String(id === chosen));
    const item = this.data.items.find((each) => each.id === chosen);
    if (item) this.stop(item);
  }

  read() {
    const chosen = this.model.get("chosen");
    const item = this.data.items.find((each) => each.id === chosen);
    if (!item) {
      this.panel.replaceChildren(make("p", { class: "wbt-hint" }, "Click an item, or press Enter on it, to read it here."));
      return;
    }
    const detail = this.model.get("detail") || {};
    if (detail.id !== chosen) {
      this.panel.replaceChildren(make("p", { class: "wbt-hint" }, item.says));
      return;
    }
    const parts = detail.parts.flatMap((part) => [
      make("h4", { class: "wbt-part" }, part.name), make("pre", { class: "wbt-text", tabindex: "0" }, part.text),
    ]);
    const head = make("h3", { class: "wbt-detail" }, detail.title);
    const problem = detail.problem ? [make("p", { class: "wbt-note" }, detail.problem)] : [];
    this.panel.replaceChildren(head, this.facts(detail.facts), ...problem, ...parts);
    this.panel.scrollTop = 0;
  }

  // -- what comes from outside -----------------------------------------------------------------------------------

  hear() {
    this.on("change:scale", () => { this.place(); this.center(this.current && this.nodes.get(this.current.id)); });
    this.on("change:zoom", () => { this.place(); this.center(this.anchor); });
    this.on("change:chosen", () => { this.marked(); this.read(); });
    this.on("change:detail", () => this.read());
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("wheel", (event) => {
      if (!event.ctrlKey || !this.scroller.contains(event.target)) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? STEP : 1 / STEP);
    }, { passive: false });
    const sized = new ResizeObserver(() => this.place());
    sized.observe(this.scroller);
    this.undo.push(() => sized.disconnect());
  }
}

export default rendered(View);
