// Draws notes and links. Lines and discs are written into pixels here, since 20,000 lines and 5,000 discs by the canvas's
// own commands took 100 ms a frame without a graphics card, and take 10 ms so; letters and rings are the canvas's.

const SOFT_LINES = 6000; // up to so many lines have soft edges
const UNIT = 16; // what one line adds to a pixel
const DENSEST = 1023;
const LEAST_ZOOM = 0.4; // against all in view
const MOST_ZOOM = 60;
const SMALLEST = 2.4; // radius of a note, px
const LARGEST = 11;
const ARROWS = 120; // of a note with more links these are drawn without heads
const LABELS = 44; // names at once where there is room
const LABEL_LETTERS = 30;
const SURE = 8; // so many names of the largest notes may hide other notes
const LABEL_ROOM = 6; // around a name, px
const FEW = 400; // of so many notes none is hidden by a name
const CLOSE = 0.33; // a note's least radius where notes are dense, of the room that each has
const SLOW = 14; // a drawing that takes longer is made coarser while it moves, ms
const REST = 140; // and fine again after so long without a movement, ms
const NEAR = 7; // a pointer so near to a note is on it, px

const letters = (text) => (Intl.Segmenter ? [...new Intl.Segmenter().segment(text)].map((part) => part.segment) : [...text]);
const cut = (text, most) => {
  const all = letters(text);
  return all.length > most ? `${all.slice(0, most - 1).join("")}…` : text;
};
const rgb = (colour) => {
  const number = parseInt(colour.trim().slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
};
const mixed = (a, b, part) => a.map((value, at) => Math.round(value + (b[at] - value) * part));
const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

class Picture {
  constructor(data) {
    this.data = data;
    this.count = data.paths.length;
    this.x = Float32Array.from(data.x);
    this.y = Float32Array.from(data.y);
    this.links = Int32Array.from(data.links);
    this.base = make("canvas", { class: "wbg-canvas", "aria-hidden": "true" });
    this.over = make("canvas", { class: "wbg-canvas", "aria-hidden": "true" });
    this.pen = this.base.getContext("2d");
    this.ink = this.over.getContext("2d");
    this.labels = data.titles.map((title) => cut(title, LABEL_LETTERS));
    this.widths = new Float32Array(this.count);
    this.sizes = new Float32Array(this.count);
    this.group = new Int32Array(this.count);
    this.level = new Int32Array(this.count).fill(1); // 0 out of focus, else 1 + steps from the chosen note
    this.isFocused = false; // whether some are out of focus
    this.isOnly = false; // whether these are hidden
    this.marks = { current: -1, chosen: -1, hovered: -1 };
    this.view = { zoom: 1, x: 0, y: 0 };
    this.width = this.height = this.drawn = 1;
    this.cost = 0;
    this.costs = []; // of the last drawings, ms: for those who measure
    this.near();
  }

  // Links of each note, both ways, as places in this.links / 2.
  near() {
    const counts = new Int32Array(this.count + 1);
    for (const end of this.links) counts[end + 1] += 1;
    for (let i = 0; i < this.count; i += 1) counts[i + 1] += counts[i];
    this.first = counts.slice();
    this.beside = new Int32Array(this.links.length);
    for (let at = 0; at < this.links.length; at += 1) this.beside[counts[this.links[at]]++] = at >> 1;
  }

  linksOf(note) { return this.beside.subarray(this.first[note], this.first[note + 1]); }

  other(link, note) { return this.links[2 * link] === note ? this.links[2 * link + 1] : this.links[2 * link]; }

  // Steps from a note along links either way, up to `most`; -1 beyond.
  steps(note, most) {
    const steps = new Int32Array(this.count).fill(-1);
    steps[note] = 0;
    let front = [note];
    for (let step = 1; step <= most && front.length; step += 1) {
      const next = [];
      for (const each of front) {
        for (const link of this.linksOf(each)) {
          const other = this.other(link, each);
          if (steps[other] < 0) { steps[other] = step; next.push(other); }
        }
      }
      front = next;
    }
    return steps;
  }

  // -- what it is told -------------------------------------------------------------------------------------------

  grouped(of, colours) { this.group = Int32Array.from(of); this.groupColours = colours; this.coloured(); }

  scaled(sizes) {
    this.sizes = Float32Array.from(sizes, (size) => SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(size));
    const order = [...this.sizes.keys()];
    this.bySize = Int32Array.from(order.sort((a, b) => this.sizes[b] - this.sizes[a] || a - b));
    this.again();
  }

  themed(style) {
    this.colours = Object.fromEntries(["paper", "ink", "soft", "link", "focus"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.font = `12px ${style.fontFamily}`;
    this.widths.fill(0);
    this.coloured();
  }

  coloured() {
    if (!this.colours || !this.groupColours) return;
    const paper = rgb(this.colours.paper);
    this.paper = packed(paper);
    this.full = Uint32Array.from(this.groupColours, (colour) => packed(rgb(colour)));
    this.pale = Uint32Array.from(this.groupColours, (colour) => packed(mixed(paper, rgb(colour), 0.22)));
    const table = (colour, part) => Uint32Array.from({ length: DENSEST + 1 }, (_, v) => packed(mixed(paper, rgb(colour), 1 - (1 - part) ** (v / UNIT))));
    const many = Math.min(1, 900 / Math.max(1, this.links.length / 2));
    this.tables = { all: table(this.colours.link, 0.1 + 0.4 * many), faint: table(this.colours.link, 0.03 + 0.1 * many), focus: table(this.colours.soft, 0.25 + 0.45 * many) };
    this.again();
  }

  focused(level, isFocused, isOnly) {
    Object.assign(this, { level, isFocused, isOnly });
    this.again();
  }

  marked(marks) {
    Object.assign(this.marks, marks);
    this.again(false);
  }

  sized(width, height) {
    if (width === this.width && height === this.height) return;
    const isFirst = this.width === 1;
    Object.assign(this, { width: Math.max(1, width), height: Math.max(1, height) });
    if (isFirst || this.isWhole) this.fit();
    this.again();
  }

  // -- where things are ------------------------------------------------------------------------------------------

  isShown(note) { return !(this.isOnly && this.isFocused && this.level[note] === 0); }

  at(note) { return [this.view.x + this.x[note] * this.view.zoom, this.view.y + this.y[note] * this.view.zoom]; }

  // Notes are small where there are many, and grow as one goes nearer.
  get scale() {
    const room = (0.75 * Math.min(this.width, this.height)) / Math.sqrt(this.count || 1);
    const least = Math.min(1, (CLOSE * room) / SMALLEST);
    return Math.min(1.8, Math.max(0.6 * least, least * (this.view.zoom / this.whole) ** 0.6));
  }

  radius(note) { return this.sizes[note] * this.drawn; }

  // Everything that is shown, or the given notes, into the middle.
  fit(notes = null) {
    const shown = notes || [...Array(this.count).keys()].filter((note) => this.isShown(note));
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const note of shown) {
      left = Math.min(left, this.x[note]); right = Math.max(right, this.x[note]);
      top = Math.min(top, this.y[note]); bottom = Math.max(bottom, this.y[note]);
    }
    if (left > right) [left, right, top, bottom] = [-1, 1, -1, 1];
    const room = (side) => Math.max(20, side - 64);
    const zoom = Math.min(room(this.width) / Math.max(0.05, right - left), room(this.height) / Math.max(0.05, bottom - top));
    if (!notes) { this.whole = zoom; this.isWhole = true; }
    const most = this.whole * 4;
    const to = Math.min(zoom, most);
    this.view = { zoom: to, x: this.width / 2 - ((left + right) / 2) * to, y: this.height / 2 - ((top + bottom) / 2) * to };
    this.again();
  }

  zoomed(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.min(this.whole * MOST_ZOOM, Math.max(this.whole * LEAST_ZOOM, this.view.zoom * factor));
    const part = zoom / this.view.zoom;
    this.view = { zoom, x: x - (x - this.view.x) * part, y: y - (y - this.view.y) * part };
    this.isWhole = false;
    this.moving();
  }

  moved(x, y) {
    this.view = { ...this.view, x: this.view.x + x, y: this.view.y + y };
    this.isWhole = false;
    this.moving();
  }

  // A note that lies outside, or near the edge, into the middle.
  reveal(note) {
    const [x, y] = this.at(note);
    const isInside = x > 40 && y > 30 && x < this.width - 40 && y < this.height - 30;
    if (!isInside) this.moved(this.width / 2 - x, this.height / 2 - y);
  }

  found(x, y) {
    let [best, least] = [-1, Infinity];
    for (let note = 0; note < this.count; note += 1) {
      const dx = this.view.x + this.x[note] * this.view.zoom - x;
      const dy = this.view.y + this.y[note] * this.view.zoom - y;
      const away = Math.sqrt(dx * dx + dy * dy) - this.radius(note);
      if (away < least && away < NEAR && this.isShown(note)) [best, least] = [note, away];
    }
    return best;
  }

  // The nearest shown note in a direction from one, within 45 degrees of it as far as there is one.
  towards(note, dx, dy) {
    let [best, least] = [-1, Infinity];
    for (let other = 0; other < this.count; other += 1) {
      if (other === note || !this.isShown(other)) continue;
      const [ax, ay] = [this.x[other] - this.x[note], this.y[other] - this.y[note]];
      const along = ax * dx + ay * dy;
      const across = Math.abs(ax * dy - ay * dx);
      if (along <= 0) continue;
      const cost = along + 2 * across + (across > along ? 10 : 0);
      if (cost < least) [best, least] = [other, cost];
    }
    return best;
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  again(all = true) {
    this.isStale = this.isStale || all;
    if (!this.asked) this.asked = requestAnimationFrame(() => { this.asked = 0; this.draw(); });
  }

  moving() {
    clearTimeout(this.resting);
    this.isMoving = true;
    this.resting = setTimeout(() => { this.isMoving = false; if (this.ratio !== devicePixelRatio) this.again(); }, REST);
    this.again();
  }

  stop() {
    cancelAnimationFrame(this.asked);
    clearTimeout(this.resting);
  }

  draw() {
    if (!this.full || !this.bySize) return;
    const started = performance.now();
    this.drawn = this.scale;
    if (this.isStale) {
      this.isStale = false;
      this.ratio = this.isMoving && this.cost > SLOW ? Math.min(1, devicePixelRatio) : Math.min(2, devicePixelRatio);
      this.pixels();
      this.lines();
      this.discs();
      this.pen.putImageData(this.image, 0, 0);
      this.cost = performance.now() - started;
    }
    this.letters();
    this.costs.push(performance.now() - started);
    if (this.costs.length > 600) this.costs.shift();
  }

  pixels() {
    const [wide, high] = [Math.round(this.width * this.ratio), Math.round(this.height * this.ratio)];
    if (this.base.width !== wide || this.base.height !== high || !this.image) {
      Object.assign(this.base, { width: wide, height: high });
      this.image = this.pen.createImageData(wide, high);
      this.grid = new Uint32Array(this.image.data.buffer);
      this.dense = new Uint16Array(wide * high);
    }
    Object.assign(this, { wide, high });
  }

  lines() {
    const { dense, grid, level, links, isFocused, isOnly } = this;
    const isSoft = links.length / 2 <= SOFT_LINES;
    const laid = (table, isFirst, wanted) => {
      dense.fill(0);
      for (let at = 0; at < links.length; at += 2) {
        if (wanted(level[links[at]] > 0 && level[links[at + 1]] > 0)) this.line(links[at], links[at + 1], isSoft);
      }
      if (isFirst) for (let i = 0; i < grid.length; i += 1) grid[i] = table[Math.min(DENSEST, dense[i])];
      else for (let i = 0; i < grid.length; i += 1) if (dense[i] > 2) grid[i] = table[Math.min(DENSEST, dense[i])];
    };
    if (!isFocused) laid(this.tables.all, true, () => true);
    else if (isOnly) laid(this.tables.focus, true, (isIn) => isIn);
    else {
      laid(this.tables.faint, true, (isIn) => !isIn);
      laid(this.tables.focus, false, (isIn) => isIn);
    }
  }

  // One line, cut to the picture (Liang and Barsky), laid on the pixels it passes.
  line(from, to, isSoft) {
    const { wide, high, dense, ratio, view } = this;
    const x = (view.x + this.x[from] * view.zoom) * ratio;
    const y = (view.y + this.y[from] * view.zoom) * ratio;
    const dx = (view.x + this.x[to] * view.zoom) * ratio - x;
    const dy = (view.y + this.y[to] * view.zoom) * ratio - y;
    let [begin, end] = [0, 1];
    for (const [p, q] of [[-dx, x], [dx, wide - 2 - x], [-dy, y], [dy, high - 2 - y]]) {
      if (p === 0) { if (q < 0) return; } else if (p < 0) begin = Math.max(begin, q / p);
      else end = Math.min(end, q / p);
    }
    if (begin >= end) return;
    const isFlat = Math.abs(dx) >= Math.abs(dy);
    const length = Math.abs(isFlat ? dx : dy);
    const first = Math.ceil(begin * length);
    const last = Math.floor(end * length);
    const [stepX, stepY] = [dx / length, dy / length];
    let [atX, atY] = [x + first * stepX, y + first * stepY];
    for (let step = first; step <= last; step += 1) {
      const [left, top] = [atX | 0, atY | 0];
      const place = top * wide + left;
      if (isSoft) {
        const part = (UNIT * (isFlat ? atY - top : atX - left)) | 0;
        dense[place] += UNIT - part;
        dense[place + (isFlat ? wide : 1)] += part;
      } else dense[place] += UNIT;
      atX += stepX; atY += stepY;
    }
  }

  discs() {
    const { level, isFocused, bySize, group } = this;
    const passes = isFocused ? (this.isOnly ? [true] : [false, true]) : [null];
    for (const isIn of passes) {
      const colours = isIn === false ? this.pale : this.full;
      for (const note of bySize) {
        if (isIn !== null && (level[note] > 0) !== isIn) continue;
        const [x, y] = this.at(note);
        const radius = this.radius(note) * this.ratio;
        if (radius > 3 * this.ratio) this.disc(x, y, radius + this.ratio, this.paper);
        this.disc(x, y, radius, colours[group[note]]);
      }
    }
  }

  disc(atX, atY, radius, colour) {
    const { wide, high, grid, ratio } = this;
    const [x, y] = [atX * ratio, atY * ratio];
    const top = Math.max(0, Math.floor(y - radius)), bottom = Math.min(high - 1, Math.ceil(y + radius));
    const left = Math.max(0, Math.floor(x - radius)), right = Math.min(wide - 1, Math.ceil(x + radius));
    const inner = (radius - 0.5) * (radius - 0.5), outer = (radius + 0.5) * (radius + 0.5);
    for (let row = top; row <= bottom; row += 1) {
      for (let column = left; column <= right; column += 1) {
        const away = (column - x) * (column - x) + (row - y) * (row - y);
        const place = row * wide + column;
        if (away <= inner) grid[place] = colour;
        else if (away < outer) grid[place] = blended(grid[place], colour, radius + 0.5 - Math.sqrt(away));
      }
    }
  }

  // -- letters and rings -----------------------------------------------------------------------------------------

  letters() {
    const ratio = Math.min(2, devicePixelRatio);
    const [wide, high] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.over.width !== wide || this.over.height !== high) Object.assign(this.over, { width: wide, height: high });
    const ink = this.ink;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, this.width, this.height);
    const { chosen, current, hovered } = this.marks;
    if (chosen >= 0 && this.isShown(chosen)) this.arrows(chosen);
    this.ring(chosen, this.colours.ink, 2, 3);
    this.ring(hovered, this.colours.soft, 1.5, 3);
    this.ring(current, this.colours.focus, 2.5, 6);
    Object.assign(ink, { font: this.font, textAlign: "center", textBaseline: "top", lineJoin: "round", lineWidth: 3.5 });
    const taken = [];
    for (const note of new Set([current, chosen, hovered])) if (note >= 0 && this.isShown(note)) this.label(note, taken, true, true);
    let tried = 0;
    let left = LABELS * Math.min(1, Math.max(0.4, this.drawn));
    for (const note of this.bySize) {
      if (left <= 0) break;
      if (this.isFocused && this.level[note] === 0) continue;
      if (note !== current && note !== chosen && note !== hovered && this.label(note, taken, false, tried++ < SURE)) left -= 1;
    }
  }

  ring(note, colour, width, away) {
    if (note < 0 || !this.isShown(note)) return;
    const [x, y] = this.at(note);
    Object.assign(this.ink, { strokeStyle: colour, lineWidth: width });
    this.ink.beginPath();
    this.ink.arc(x, y, this.radius(note) + away, 0, 2 * Math.PI);
    this.ink.stroke();
  }

  // Links of the chosen note, each with a head where it leads to; those to what continues it are thick.
  arrows(note) {
    const links = this.linksOf(note);
    if (links.length > ARROWS) return;
    const paths = [new Path2D(), new Path2D(), new Path2D()];
    for (const link of links) {
      const [from, to] = [this.links[2 * link], this.links[2 * link + 1]];
      if (!this.isShown(from) || !this.isShown(to)) continue;
      const [[ax, ay], [bx, by]] = [this.at(from), this.at(to)];
      const long = Math.hypot(bx - ax, by - ay) || 1;
      const [ux, uy] = [(bx - ax) / long, (by - ay) / long];
      const end = this.radius(to) + 2;
      if (long < end + 8) continue;
      const [ex, ey] = [bx - ux * end, by - uy * end];
      const line = paths[this.data.sequential[link] ? 1 : 0];
      line.moveTo(ax, ay);
      line.lineTo(ex, ey);
      paths[2].moveTo(ex, ey);
      paths[2].lineTo(ex - 7 * ux + 3 * uy, ey - 7 * uy - 3 * ux);
      paths[2].lineTo(ex - 7 * ux - 3 * uy, ey - 7 * uy + 3 * ux);
    }
    const colour = links.length > 30 ? this.colours.soft : this.colours.ink;
    Object.assign(this.ink, { strokeStyle: colour, fillStyle: colour, lineWidth: 1 });
    this.ink.stroke(paths[0]);
    this.ink.lineWidth = 2.2;
    this.ink.stroke(paths[1]);
    this.ink.fill(paths[2]);
  }

  // A name below its note, else above it or beside it, where it hides no other name and, of few notes, none of them.
  label(note, taken, isSure, isLarge) {
    const [x, y] = this.at(note);
    if (x < -20 || y < -20 || x > this.width + 20 || y > this.height + 20) return false;
    const text = this.labels[note];
    const wide = this.widths[note] || (this.widths[note] = this.ink.measureText(text).width + 4);
    const away = this.radius(note) + (note === this.marks.current ? 9 : 4);
    const middle = Math.min(Math.max(x - wide / 2, 1), Math.max(1, this.width - wide - 1));
    const places = [[middle, y + away], [middle, y - away - 14], [x + away, y - 7], [x - away - wide, y - 7]];
    const fits = (isBare) => places.find(([left, top]) => this.fits(note, left, top, wide, taken, isBare));
    const found = fits(true) || (isLarge && fits(false));
    if (!found && !isSure) return false;
    const [left, top] = found || places[0];
    taken.push([left - LABEL_ROOM, top - 2, left + wide + LABEL_ROOM, top + 15]);
    Object.assign(this.ink, { strokeStyle: this.colours.paper, fillStyle: this.colours.ink, lineWidth: 3.5 });
    this.ink.strokeText(text, left + wide / 2, top);
    this.ink.fillText(text, left + wide / 2, top);
    return true;
  }

  fits(note, left, top, wide, taken, isBare) {
    const [right, bottom] = [left + wide, top + 14];
    if (left < 0 || top < 0 || right > this.width || bottom > this.height) return false;
    if (taken.some(([a, b, c, d]) => a < right && left < c && b < bottom && top < d)) return false;
    if (this.count > FEW || !isBare) return true;
    for (let other = 0; other < this.count; other += 1) {
      if (other === note || !this.isShown(other)) continue;
      const [x, y] = this.at(other);
      const radius = this.radius(other);
      if (x + radius > left && x - radius < right && y + radius > top && y - radius < bottom) return false;
    }
    return true;
  }
}

const blended = (under, over, part) => {
  const mix = (shift) => {
    const below = (under >>> shift) & 255;
    return (below + (((over >>> shift) & 255) - below) * part) & 255;
  };
  return ((255 << 24) | (mix(16) << 16) | (mix(8) << 8) | mix(0)) >>> 0;
};

