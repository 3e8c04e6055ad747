// What all widgets share; scripts.py puts it before each widget's own script. What a transcript or a note says becomes
// text nodes only; nothing is fetched.

const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  for (const child of children) made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return made;
};

// JupyterLab and marimo say on <body> whether they are dark; elsewhere the system does.
const isDark = () => {
  const said = document.body.dataset.jpThemeLight;
  if (said !== undefined) return said === "false";
  const classes = [...document.body.classList, ...document.documentElement.classList];
  if (classes.includes("dark")) return true;
  if (classes.includes("light")) return false;
  return matchMedia("(prefers-color-scheme: dark)").matches;
};

const whole = (number) => number.toLocaleString("en-US");

// A widget in its place: a view extends it with build(), which fills this.root, and hear(), which listens.
class Frame {
  constructor(model, el, prefix) {
    this.model = model;
    this.prefix = prefix; // of its classes
    this.root = make("section", { class: prefix, "data-lm-suppress-shortcuts": "true" });
    this.undo = [];
    el.replaceChildren(this.root);
    this.theme();
    this.build();
    this.on("change:data", () => { this.root.replaceChildren(); this.build(); });
    this.hear();
    this.watch();
  }

  get data() { return this.model.get("data"); }

  tell(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
  }

  on(name, act) {
    this.model.on(name, act);
    this.undo.push(() => this.model.off(name, act));
  }

  button(name, label, text, act) {
    const made = make("button", { type: "button", class: `${this.prefix}-button`, "data-act": name, "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    return made;
  }

  facts(facts) {
    const made = make("dl", { class: `${this.prefix}-facts` });
    for (const [name, value] of facts) made.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    return made;
  }

  theme() { this.root.dataset.theme = isDark() ? "dark" : "light"; }

  watch() {
    const themed = new MutationObserver(() => this.theme());
    for (const node of [document.documentElement, document.body]) {
      themed.observe(node, { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-theme"] });
    }
    const system = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => this.theme();
    system.addEventListener("change", changed);
    this.undo.push(() => themed.disconnect(), () => system.removeEventListener("change", changed));
  }

  close() { for (const each of this.undo) each(); }
}

const rendered = (View) => ({
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.close();
  },
});

