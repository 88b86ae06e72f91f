// An exported page: pointing lights a unit up in both trees and in the text; a click folds it.
(() => {
  "use strict";
  const range = (part) => [Number(part.dataset.start), Number(part.dataset.end)];
  const held = (inner, outer) => outer[0] <= inner[0] && inner[1] <= outer[1];
  const parts = [...document.querySelectorAll("[data-start]")];

  // Pointing at something lights up its unit everywhere.
  let lit = [];
  const light = (target) => {
    for (const part of lit) part.classList.remove("lit");
    lit = [];
    if (!target) return;
    const unit = range(target);
    lit = parts.filter((part) =>
      part.matches(".rh-edu, p > span") ? held(range(part), unit)
        : part === target || (part.dataset.node !== undefined
          && part.dataset.node === target.dataset.node
          && part.closest("section") === target.closest("section")));
    for (const part of lit) part.classList.add("lit");
  };
  document.addEventListener("pointerover", (event) => {
    light(event.target.closest?.("[data-start]"));
  });
  document.addEventListener("focusin", (event) => {
    light(event.target.closest?.("[data-start]"));
  });

  // Folding: the rows of a unit become one, and all that is below moves up.
  class Picture {
    constructor(svg) {
      this.svg = svg;
      this.whole = Number(svg.getAttribute("height"));
      this.folded = new Map();
      this.rows = [...svg.querySelectorAll(".rh-edu")].map((box) => {
        const rect = box.querySelector("rect");
        const at = Number(rect.getAttribute("y"));
        return { unit: range(box), at, end: at + Number(rect.getAttribute("height")) };
      });
      this.edge = Number(svg.querySelector(".rh-panel").getAttribute("x"));
      this.shapes = [...svg.querySelectorAll("path, rect, text")].map((shape) => ({
        shape,
        path: shape.getAttribute("d"),
        at: Number(shape.getAttribute("y")),
        size: Number(shape.getAttribute("height")),
        text: shape.textContent,
      }));
      svg.addEventListener("click", (event) => this.click(event.target.closest("[data-start]")));
      svg.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          this.click(event.target.closest("[data-start]"));
        }
      });
      for (const part of svg.querySelectorAll(".rh-edge, .rh-node, .rh-edu")) {
        const [start, end] = range(part);
        if (end - start > 1) {
          part.classList.add("can-fold");
          if (part.matches(".rh-edge") && part.querySelector("text")) part.tabIndex = 0;
        }
      }
    }

    click(part) {
      if (!part) return;
      const [start, end] = range(part);
      for (const [key, unit] of this.folded) {
        if (held([start, end], unit)) {
          this.folded.delete(key);
          this.draw();
          return;
        }
      }
      if (end - start > 1 && part.dataset.role !== "root" && !part.closest(".rh-legend")) {
        this.folded.set(`${start}-${end}`, [start, end]);
        this.draw();
      }
    }

    unfold() {
      this.folded.clear();
      this.draw();
    }

    // Where a height goes: every row keeps its size, a folded unit is one row.
    map() {
      const units = [...this.folded.values()];
      const outer = units.filter((unit) => !units.some((o) => o !== unit && held(unit, o)));
      const steps = [];
      let gone = 0;
      for (let row = 0; row < this.rows.length; row += 1) {
        const { unit, at } = this.rows[row];
        const fold = outer.find((one) => held(unit, one));
        if (!fold) {
          steps.push({ from: at, shift: gone });
          continue;
        }
        let last = row;
        while (last + 1 < this.rows.length && held(this.rows[last + 1].unit, fold)) last += 1;
        const high = this.rows[row].end - at;
        const next = last + 1 < this.rows.length ? this.rows[last + 1].at : this.rows[last].end + 2;
        steps.push({ from: at, middle: at - gone + high / 2 });
        gone += next - at - high - 2;
        row = last;
        steps.push({ from: next, shift: gone });
      }
      const step = (value) => {
        let found = { shift: 0 };
        for (const one of steps) if (value >= one.from - 0.5) found = one;
        return found;
      };
      const place = (value) => step(value).middle ?? value - step(value).shift;
      return { outer, gone, place, isFolded: (value) => step(value).middle !== undefined };
    }

    draw() {
      const { outer, gone, place, isFolded } = this.map();
      for (const part of this.svg.querySelectorAll("[data-start]")) {
        const unit = range(part);
        const fold = outer.find((one) => held(unit, one));
        const whole = fold && unit[0] === fold[0] && unit[1] === fold[1];
        const first = fold && part.matches(".rh-edu") && unit[0] === fold[0];
        part.classList.toggle("own", Boolean(whole) && part.matches(".rh-edge"));
        part.classList.toggle("folded", Boolean(first));
        part.classList.toggle("away", Boolean(fold) && !first && !part.matches(".own"));
        if (first) part.dataset.fold = `${fold[0] + 1}–${fold[1]}`;
      }
      for (const { shape, path, at, size, text } of this.shapes) {
        const box = shape.closest(".rh-edu.folded");
        if (path !== null) shape.setAttribute("d", this.moved(shape, path, place));
        else if (box) this.summarise(shape, box, at, size, text, place);
        else if (!shape.matches(".rh-paper")) {
          // A name stands above its line.
          shape.setAttribute("y", place(at) - (isFolded(at) && shape.matches("text") ? 4 : 0));
          if (shape.matches("text")) {
            shape.classList.remove("away");
            shape.textContent = text;
          }
        }
      }
      const high = this.whole - gone;
      this.svg.setAttribute("height", high);
      this.svg.querySelector(".rh-paper")?.setAttribute("height", high);
      const [x, y, wide] = this.svg.getAttribute("viewBox").split(" ");
      this.svg.setAttribute("viewBox", `${x} ${y} ${wide} ${high}`);
    }

    moved(shape, path, place) {
      const tip = shape.matches(".rh-tip") && Number(path.match(/,(-?[\d.]+)/)[1]);
      const own = shape.closest(".own") !== null && shape.matches(".rh-line");
      let count = 0;
      return path.replace(/-?\d+(\.\d+)?/g, (number) => {
        const value = Number(number);
        count += 1;
        // The head of an arrow keeps its form; the line of a folded unit begins at its row.
        const height = shape.matches(".rh-tip") ? value + place(tip) - tip : place(value);
        const found = count % 2 ? (own && count === 1 ? this.edge : value) : height;
        return String(Math.round(found * 10) / 10);
      });
    }

    // The row of a folded unit: the beginning of its text, and how far it goes.
    summarise(shape, box, at, size, text, place) {
      if (shape.matches("rect")) {
        shape.setAttribute("y", place(at) - size / 2);
        return;
      }
      const rows = [...box.querySelectorAll(".rh-text")];
      if (shape === rows[0]) shape.textContent = `${text} … (${box.dataset.fold})`;
      else if (shape.matches(".rh-text")) shape.classList.add("away");
      shape.setAttribute("y", place(at) + 4.5);
    }
  }

  const foldable = [...document.querySelectorAll("section.rst svg[data-orient=right]")];
  const pictures = foldable.map((svg) => new Picture(svg));
  const hint = document.getElementById("folding");
  hint.hidden = pictures.length === 0;
  hint.querySelector("button").addEventListener("click", () => {
    pictures.forEach((picture) => picture.unfold());
  });

  // A block of the overview leads to its unit in the tree.
  document.querySelector("section.overview")?.addEventListener("click", (event) => {
    const block = event.target.closest("[data-start]");
    if (!block) return;
    document.getElementById("rst").checked = true;
    pictures.forEach((picture) => picture.unfold());
    const unit = range(block);
    const row = parts.find((p) => p.matches("section.rst .rh-edu") && range(p)[0] === unit[0]);
    row?.scrollIntoView({ block: "center", inline: "nearest" });
    light(parts.find((p) => p.closest("section.rst") && held(unit, range(p)) && held(range(p), unit))
      ?? row);
  });
})();
