"use strict";

(() => {
  const views = new Map();
  const PARTS = ["fill", "line", "text"];
  const ROLES = [
    "card", "ink", "muted", "line", "stage", "slowest", "best", "memory", "forward", "backward",
    "rule", "on-fill",
  ];
  const SETTLED = 100; // milliseconds in which new colours are on the screen
  const PAPER = 640; // pixels of a picture's width on A4 and Letter

  const colour = (role) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim();

  function paintModel(model) {
    const ink = colour("ink");
    const muted = colour("muted");
    const type = model.type;
    if (type.endsWith("Axis")) {
      model.setv({ major_label_text_color: muted, axis_label_text_color: ink });
    } else if (type === "Grid") {
      model.setv({ grid_line_color: colour("line") });
    } else if (Array.isArray(model.tags)) {
      for (const tag of model.tags) {
        const [what, role] = String(tag).split(":");
        if (role && PARTS.includes(what)) {
          model.setv({ [`${what}_color`]: { value: colour(role) } });
        }
      }
    }
  }

  function paint() {
    for (const view of views.values()) {
      for (const model of view.model.references()) paintModel(model);
    }
  }

  function embed(script) {
    const target = script.dataset.figure;
    const item = JSON.parse(script.textContent);
    return Bokeh.embed.embed_item(item, target).then((manager) => {
      views.set(target, [...manager][0]);
    });
  }

  const pretty = (value) =>
    value.toLocaleString("en", { maximumSignificantDigits: 4 });

  function zoomControls(toolbar) {
    const target = toolbar.dataset.zooms;
    const plot = document.getElementById(target);
    const model = views.get(target).model;
    const range = model.x_range;
    const [least, most] = range.bounds;
    const first = [range.start, range.end];
    const output = toolbar.querySelector("output");
    const unit = model.below[0].axis_label;

    function tell() {
      output.textContent = `${pretty(range.start)} to ${pretty(range.end)} of ${pretty(most)} ${unit}`;
    }

    function show(start, end) {
      const width = Math.min(Math.max(end - start, (most - least) * 1e-6), most - least);
      const from = Math.min(Math.max(start, least), most - width);
      range.setv({ start: from, end: from + width });
    }

    const scaled = (factor) => {
      const middle = (range.start + range.end) / 2;
      const half = ((range.end - range.start) / 2) * factor;
      show(middle - half, middle + half);
    };
    const moved = (share) => {
      const by = (range.end - range.start) * share;
      show(range.start + by, range.end + by);
    };
    const actions = {
      in: () => scaled(0.5),
      out: () => scaled(2),
      left: () => moved(-0.5),
      right: () => moved(0.5),
      start: () => show(...first),
      all: () => show(least, most),
    };
    const keys = {
      "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right",
      Home: "start", 0: "all",
    };
    toolbar.addEventListener("click", (event) => {
      const button = event.target.closest("[data-action]");
      if (button) actions[button.dataset.action]();
    });
    plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      event.preventDefault();
      actions[keys[event.key]]();
    });
    range.change.connect(tell);
    tell();
  }

  async function copyText(element) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      const selection = getSelection();
      selection.selectAllChildren(element);
      const copied = document.execCommand("copy");
      if (copied) selection.removeAllRanges();
      return copied;
    }
  }

  function copyButton(button) {
    const output = button.parentElement.querySelector("output");
    button.addEventListener("click", async () => {
      const copied = await copyText(document.getElementById(button.dataset.copies));
      output.textContent = copied ? "Copied" : "Selected; copy with Ctrl+C";
      setTimeout(() => { output.textContent = ""; }, 4000);
    });
  }

  const palette = () => ROLES.map(colour);
  const hex = (value) => {
    const parts = /^rgb\((\d+), ?(\d+), ?(\d+)\)$/.exec(value);
    if (!parts) return value;
    return "#" + parts.slice(1).map((part) => Number(part).toString(16).padStart(2, "0")).join("");
  };
  const restores = [];

  function* drawn(root) {
    for (const element of root.querySelectorAll("*")) {
      if (element instanceof SVGElement) yield element;
      if (element.shadowRoot) yield* drawn(element.shadowRoot);
    }
  }

  // Paper takes the page as it stands now: what is drawn gets the light colours at once.
  function beforePrint() {
    const before = palette();
    document.documentElement.toggleAttribute("data-printing", true);
    const after = palette();
    const light = new Map(before.map((value, n) => [value, after[n]]));
    for (const target of views.keys()) {
      const plot = document.getElementById(target);
      const width = plot.clientWidth;
      plot.style.width = `${width}px`;
      plot.style.zoom = Math.min(1, PAPER / width);
      for (const element of drawn(plot)) {
        for (const name of ["fill", "stroke"]) {
          const value = element.getAttribute(name);
          const other = value && light.get(hex(value));
          if (!other) continue;
          element.setAttribute(name, other);
          restores.push(() => element.setAttribute(name, value));
        }
      }
      restores.push(() => { plot.style.width = plot.style.zoom = ""; });
    }
  }

  function afterPrint() {
    document.documentElement.toggleAttribute("data-printing", false);
    restores.splice(0).forEach((restore) => restore());
  }

  document.querySelectorAll("[data-copies]").forEach(copyButton);
  Promise.all([...document.querySelectorAll("[data-figure]")].map(embed)).then(() => {
    paint();
    document.querySelectorAll("[data-zooms]").forEach(zoomControls);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    addEventListener("beforeprint", beforePrint);
    addEventListener("afterprint", afterPrint);
    setTimeout(() => { document.documentElement.dataset.drawn = views.size; }, SETTLED);
  });
})();
