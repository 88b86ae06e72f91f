"""A flow of dialogue states as a picture: SVG, PNG, and a page to pan, zoom and thin out.

States stand in rows, by when they come in a dialogue; then they change places as long as lines
become shorter and fewer lead back. Lines are as thick as they are probable.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from rhetorica.dialogue.flow import END, START, Edge, Flow, FlowState
from rhetorica.render.colours import DARK, LIGHT, SANS, Theme, check_theme
from rhetorica.render.fit import Measure, clip, measure, visible, wrap
from rhetorica.render.png import rasterize

_BOX, _HIGH, _ACROSS, _DOWN, _MARGIN = 244.0, 74.0, 56.0, 64.0, 44.0
_DOT = 26.0
_PAST = 190.0
"""How far a line that would lie behind a box is drawn out to its left."""
_SHORTENED = 0.08
"""Lines from this probability on count when places are chosen."""
_MOST_MOVED, _ROUNDS = 80, 12


@dataclass(frozen=True, slots=True)
class _Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def flow_svg(flow: Flow, *, threshold: float = 0.1, theme: Theme = "light") -> str:
    """Draw the flow; lines less probable than the threshold are left out.

    >>> from rhetorica.dialogue.flow import Edge, Flow, FlowState
    >>> hello = FlowState(0, "Hello!", 1.0, 0.0, (("hello", 0.9),))
    >>> chart = Flow("one state", (hello,), (Edge("start", 0, 1.0), Edge(0, "end", 1.0)))
    >>> flow_svg(chart).count("<path class='edge'")
    2
    """
    check_theme(theme)
    return _svg(flow, flow.above(threshold), theme, hidden_below=threshold)


def flow_png(flow: Flow, *, threshold: float = 0.1, scale: float | None = None) -> bytes:
    """Draw the flow in pixels (extra ``rhetorica[png]``)."""
    return rasterize(flow_svg(flow, threshold=threshold), scale=scale)


def flow_html(flow: Flow, *, threshold: float = 0.1, theme: Theme = "auto") -> str:
    """Make a page of the flow, which needs nothing beside itself.

    Drag to move it, turn the wheel to zoom, thin out its lines with the slider, click a state to
    see what is said in it.
    """
    check_theme(theme)
    picture = _svg(flow, flow.above(0.01), theme, hidden_below=threshold)
    facts = {
        str(state.number): {
            "name": visible(state.name),
            "share": f"{100 * state.share:.1f} % of all turns",
            "words": ", ".join(f"{visible(word)} {chance:.3f}" for word, chance in state.words),
            "examples": [visible(text) for text in state.examples],
            "topics": [
                f"{100 * share:.0f} %: {visible(', '.join(words))}" for share, words in state.topics
            ],
        }
        for state in flow.states
    }
    # "</script>" in an utterance must not end the script.
    data = json.dumps(facts, ensure_ascii=False).replace("<", "\\u003c")
    title = escape(visible(flow.title))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        "style-src 'unsafe-inline';script-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_page_colours(theme)}{_PAGE_STYLE}</style>\n</head>\n"
        f"<body>\n<header><h1>{title}</h1>\n"
        f'<label>Lines from <input id="threshold" type="range" min="0.01" max="0.6" step="0.01" '
        f'value="{threshold}"> <output id="shown">{threshold:.2f}</output></label>\n'
        '<button id="whole" type="button">Whole picture</button></header>\n'
        f'<main><div id="view">{picture}</div>\n<aside id="about" aria-live="polite">'
        "<p>Click a state to see what is said in it.</p></aside></main>\n"
        f"<script>const STATES={data};\n{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _svg(flow: Flow, edges: tuple[Edge, ...], theme: Theme, *, hidden_below: float) -> str:
    boxes = _place(flow)
    wide = max(box.x + box.width for box in boxes.values()) + _MARGIN
    high = max(box.y + box.height for box in boxes.values()) + _MARGIN / 2
    left = _left_edge(boxes, edges)
    wide -= left
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
        f'viewBox="{left:.0f} 0 {wide:.0f} {high:.0f}" class="flow" role="img" '
        f'aria-label="{escape(visible(flow.title), quote=True)}">',
        f"<style>{_style(theme)}</style>",
        f"<rect class='paper' x='{left:.0f}' width='{wide:.0f}' height='{high:.0f}'/>",
        "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
        "markerHeight='7' markerUnits='userSpaceOnUse' orient='auto'>"
        "<path class='tip' d='M0,0 L8,4 L0,8 z'/></marker></defs>",
    ]
    # The most probable choose where their figures stand; they are drawn last, on top.
    taken = list(boxes.values())
    lines = [_line(edge, boxes, taken, hidden_below) for edge in edges]
    parts += reversed(lines)
    parts += [_state(state, boxes[state.number]) for state in flow.states]
    for name in (START, END):
        box = boxes[name]
        parts.append(
            f"<g class='outside'><circle cx='{box.middle:.1f}' cy='{box.y + _DOT:.1f}' "
            f"r='{_DOT}'/><text x='{box.middle:.1f}' y='{box.y + _DOT + 4:.1f}' "
            f"text-anchor='middle'>{name}</text></g>"
        )
    return "\n".join([*parts, "</svg>"])


def _place(flow: Flow) -> dict[int | str, _Box]:
    """Put states into rows by when they come, then where lines between them are short."""
    order = sorted(flow.states, key=lambda state: (state.place, state.number))
    across = max(1, min(5, round(math.sqrt(len(order)))))
    rows = math.ceil(len(order) / across)
    edges = flow.above(_SHORTENED)
    tried = []
    for numbers in ([state.number for state in order], _walk(order, edges)):
        cells = {number: divmod(k, across) for k, number in enumerate(numbers)}
        tried.append((_shorten(cells, edges, rows, across), cells))
    cells = min(tried, key=lambda pair: pair[0])[1]
    half = across * (_BOX + _ACROSS) / 2
    boxes: dict[int | str, _Box] = {START: _Box(half - _DOT + _MARGIN, 12.0, 2 * _DOT, 2 * _DOT)}
    top = 12.0 + 2 * _DOT + _DOWN
    for number, (row, column) in cells.items():
        # A row that is not full stands in the middle.
        beside = sorted(c for r, c in cells.values() if r == row)
        place = beside.index(column) + (across - len(beside)) / 2
        x = _MARGIN + _ACROSS / 2 + place * (_BOX + _ACROSS)
        boxes[number] = _Box(x, top + row * (_HIGH + _DOWN), _BOX, _HIGH)
    boxes[END] = _Box(half - _DOT + _MARGIN, top + rows * (_HIGH + _DOWN), 2 * _DOT, 2 * _DOT)
    return boxes


def _walk(order: Sequence[FlowState], edges: Sequence[Edge]) -> list[int]:
    """Go from the beginning to what most probably follows, wherever one has not been yet."""
    left = [state.number for state in order]
    here: int | str = START
    found = []
    while left:
        led = {edge.target: edge for edge in reversed(edges) if edge.source == here}
        follows = [number for number in left if number in led]
        number = max(follows, key=lambda number: led[number].probability) if follows else left[0]
        left.remove(number)
        found.append(number)
        here = number
    return found


def _shorten(
    cells: dict[int, tuple[int, int]], edges: Sequence[Edge], rows: int, across: int
) -> float:
    """Let states change places, or go to empty ones, as long as that makes lines shorter.

    Returns how long they are then, by a measure that dislikes lines back and behind boxes.
    """
    touching: dict[int, list[Edge]] = {number: [] for number in cells}
    for edge in edges:
        for name in {edge.source, edge.target}:
            if isinstance(name, int):
                touching[name].append(edge)
    outside = {START: (-1, (across - 1) / 2), END: (rows, (across - 1) / 2)}

    def length(edge: Edge) -> float:
        (row, column), (to_row, to_column) = (
            outside[name] if isinstance(name, str) else cells[name]
            for name in (edge.source, edge.target)
        )
        down, aside = to_row - row, abs(to_column - column)
        if down < 0:
            cost = 2.0 - 1.2 * down + 0.5 * aside
        elif down == 0:
            cost = 1.2 if aside <= 1 else 2.0 + aside
        else:
            # Straight down past others, it would lie behind their boxes.
            hidden = 1.0 if down > 1 and aside == 0 else 0.0
            cost = 1.5 * down - 0.5 + 0.5 * aside + hidden
        return cost * edge.probability

    def total(edges: Iterable[Edge]) -> float:
        return sum(length(edge) for edge in edges)

    places = [(row, column) for row in range(rows) for column in range(across)]
    # It takes time that grows with the square.
    for _ in range(_ROUNDS if len(cells) <= _MOST_MOVED else 0):
        moved = False
        for number in cells:
            for place in places:
                here = cells[number]
                if place == here:
                    continue
                other = next((name for name, cell in cells.items() if cell == place), None)
                concerned = {*touching[number], *(touching[other] if other is not None else ())}
                before = total(concerned)
                cells[number] = place
                if other is not None:
                    cells[other] = here
                if total(concerned) < before - 1e-9:
                    moved = True
                    continue
                cells[number] = here
                if other is not None:
                    cells[other] = place
        if not moved:
            break
    return total(edges)


def _bulge(a: _Box, b: _Box) -> float:
    """Return how far a line that goes back up swings out to the left."""
    return 40.0 + 0.25 * abs(a.y - b.y)


def _passes(a: _Box, b: _Box) -> bool:
    """Tell whether a line straight down from one box to another would lie behind a third."""
    return b.y - a.y > 1.5 * (_HIGH + _DOWN) and abs(b.middle - a.middle) < _BOX / 2


def _left_edge(boxes: dict[int | str, _Box], edges: tuple[Edge, ...]) -> float:
    """Return how far to the left the picture reaches."""
    reach = 0.0
    for edge in edges:
        a, b = boxes[edge.source], boxes[edge.target]
        if b.y <= a.y and edge.source != edge.target and a.y != b.y:
            reach = min(reach, min(a.x, b.x) - 0.75 * _bulge(a, b))
        elif _passes(a, b):
            reach = min(reach, min(a.middle, b.middle) - 0.75 * _PAST)
    return reach - 20


def _line(edge: Edge, boxes: dict[int | str, _Box], taken: list[_Box], hidden_below: float) -> str:
    kind, curve = _curve(edge, boxes)
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve
    x, y = _free_spot(curve, taken)
    path = f"M{x0:.1f},{y0:.1f} C{x1:.1f},{y1:.1f} {x2:.1f},{y2:.1f} {x3:.1f},{y3:.1f}"
    width = 0.8 + 5 * edge.probability
    gone = " style='display:none'" if edge.probability < hidden_below else ""
    return (
        f"<g class='link {kind}' data-p='{edge.probability:.4f}' data-from='{edge.source}' "
        f"data-to='{edge.target}'{gone}><path class='edge' d='{path}' stroke-width='{width:.1f}' "
        f"marker-end='url(#tip)'/><text class='chance' x='{x:.1f}' y='{y + 4:.1f}' "
        f"text-anchor='middle'>{edge.probability:.2f}</text></g>"
    )


_Curve = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]


def _curve(edge: Edge, boxes: dict[int | str, _Box]) -> tuple[str, _Curve]:
    """Return the kind of a line (on, back, again), and the four points of its curve."""
    a, b = boxes[edge.source], boxes[edge.target]
    if edge.source == edge.target:
        x, y = a.x + a.width, a.y + a.height / 2
        return "again", ((x, y - 12), (x + 34, y - 26), (x + 34, y + 26), (x + 1, y + 12))
    if b.y > a.y:
        lean = 0.12 * (b.middle - a.middle)
        # Lines leave and meet the circles of beginning and end in the middle.
        x1 = a.middle + (lean if edge.source != START else 0.0)
        x2 = b.middle - (lean if edge.target != END else 0.0)
        y1, y2 = a.y + a.height, b.y - 2
        bend = max(24.0, 0.4 * (y2 - y1))
        out = _PAST if _passes(a, b) else 0.0
        return "on", ((x1, y1), (x1 - out, y1 + bend), (x2 - out, y2 - bend), (x2, y2))
    if b.y == a.y:
        near = b.x > a.x
        x1, x2 = (a.x + a.width, b.x - 2) if near else (a.x, b.x + b.width + 2)
        y = a.y + (18 if near else 56)
        # Past others, it swings above or below them.
        lift = 0.0 if abs(x2 - x1) < 2 * _ACROSS else (-60.0 if near else 60.0)
        third = 0.3 * (x2 - x1)
        return "on", ((x1, y), (x1 + third, y + lift), (x2 - third, y + lift), (x2, y))
    out = min(a.x, b.x) - _bulge(a, b)
    y1, y2 = a.y + a.height / 2, b.y + b.height / 2
    return "back", ((a.x, y1), (out, y1), (out, y2), (b.x - 2, y2))


def _free_spot(curve: _Curve, taken: list[_Box]) -> tuple[float, float]:
    """Find where on a line its figure covers neither box nor other figure, and take it."""
    spots: list[tuple[float, int, _Box]] = []
    for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.15, 0.85):
        rest = 1 - share
        weights = (rest**3, 3 * share * rest**2, 3 * share**2 * rest, share**3)
        x, y = (sum(w * point[k] for w, point in zip(weights, curve, strict=True)) for k in (0, 1))
        box = _Box(x - 13, y - 7, 26, 14)
        spots.append((sum(_overlap(box, other) for other in taken), len(spots), box))
    _, _, best = min(spots, key=lambda spot: spot[:2])
    taken.append(best)
    return best.middle, best.y + 7


def _overlap(a: _Box, b: _Box) -> float:
    wide = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    high = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    return max(0.0, wide) * max(0.0, high)


def _state(state: FlowState, box: _Box) -> str:
    # Bold letters are wider than those that are measured.
    name = _clipped(f"{state.number + 1}. {state.name}", measure(13.5), 2)
    words = [escape(_fitting([visible(word) for word, _ in state.words], measure(11)))]
    x, y = box.x + 9, box.y + 18
    rows = [f"<text class='name' x='{x:.1f}' y='{y + 15 * k:.1f}'>{t}</text>"
            for k, t in enumerate(name)]  # fmt: skip
    below = box.y + box.height - 24
    rows += [f"<text class='words' x='{x:.1f}' y='{below:.1f}'>{text}</text>" for text in words]
    foot = f"{100 * state.share:.0f} %" + (f" · {state.speaker}" if state.speaker else "")
    foot += f" · {1 + len(state.others)} wordings" if state.others else ""
    foot = escape(visible(foot))
    rows.append(f"<text class='foot' x='{x:.1f}' y='{below + 15:.1f}'>{foot}</text>")
    spoken = escape("; ".join(visible(text) for text in state.examples), quote=False)
    return (
        f"<g class='state' data-state='{state.number}' tabindex='0'><title>{spoken}</title>"
        f"<rect x='{box.x:.1f}' y='{box.y:.1f}' width='{box.width:.1f}' "
        f"height='{box.height:.1f}' rx='8'/>{''.join(rows)}</g>"
    )


def _clipped(text: str, width: Measure, rows: int) -> list[str]:
    """Break a text into so many rows of a box, and say if more would follow."""
    room = _BOX - 18
    found = wrap(visible(text), room, room, width)
    if len(found) > rows:
        found = [*found[: rows - 1], clip(" ".join(found[rows - 1 :]), room, width)]
    return [escape(row) for row in found]


def _fitting(words: Sequence[str], width: Measure) -> str:
    """Join as many words as a row of a box holds."""
    room, found = _BOX - 18, ""
    for word in words:
        longer = f"{found}, {word}" if found else clip(word, room, width)
        if found and width(longer) > room:
            break
        found = longer
    return found


def _style(theme: Theme) -> str:
    def rules(colour: dict[str, str]) -> str:
        return (
            f".flow text{{font-family:{SANS};font-size:12px;fill:{colour['ink']}}}"
            f".flow .paper{{fill:{colour['paper']}}}"
            f".flow .state rect,.flow .outside circle{{fill:{colour['panel']};"
            f"stroke:{colour['faint']};stroke-width:1.2}}"
            f".flow .name{{font-weight:600}}.flow .words{{fill:{colour['nucleus']};"
            f"font-size:11px}}.flow .foot{{fill:{colour['faint']};font-size:10px}}"
            f".flow .edge{{fill:none;stroke:{colour['line']};stroke-opacity:.85}}"
            f".flow .back .edge{{stroke:{colour['satellite']};stroke-opacity:.55}}"
            f".flow .tip{{fill:{colour['faint']}}}"
            f".flow .chance{{font-size:10px;fill:{colour['faint']};stroke:{colour['paper']};"
            "stroke-width:2.5px;paint-order:stroke}"
            f".flow .chosen rect{{stroke:{colour['nucleus']};stroke-width:2.5}}"
            f".flow .near .edge{{stroke:{colour['nucleus']};stroke-opacity:1}}"
        )

    if theme == "auto":
        return f"{rules(LIGHT)}@media screen and (prefers-color-scheme:dark){{{rules(DARK)}}}"
    return rules(DARK if theme == "dark" else LIGHT)


def _page_colours(theme: Theme) -> str:
    def variables(colours: dict[str, str]) -> str:
        return ":root{" + ";".join(f"--{name}:{value}" for name, value in colours.items()) + "}"

    if theme == "auto":
        dark = variables(DARK)
        return f"{variables(LIGHT)}@media screen and (prefers-color-scheme:dark){{{dark}}}"
    return variables(DARK if theme == "dark" else LIGHT)


_PAGE_STYLE = f"""
*{{box-sizing:border-box}}
body{{margin:0;height:100vh;display:flex;flex-direction:column;background:var(--paper);
color:var(--ink);font:15px/1.45 {SANS}}}
header{{display:flex;flex-wrap:wrap;gap:.4rem 1.4rem;align-items:center;padding:.6rem 1rem;
border-bottom:1px solid var(--edge)}}
h1{{font-size:1.1rem;margin:0}}
output{{font-variant-numeric:tabular-nums}}
button{{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--edge);
border-radius:6px;padding:.2rem .7rem;cursor:pointer}}
main{{flex:1;display:flex;min-height:0}}
#view{{flex:1;overflow:hidden;cursor:grab;touch-action:none}}
#view:active{{cursor:grabbing}}
#view svg{{width:100%;height:100%;display:block}}
.state{{cursor:pointer}}
aside{{width:20rem;overflow:auto;padding:.8rem 1rem;border-left:1px solid var(--edge);
background:var(--panel)}}
aside h2{{font-size:1rem;margin:0 0 .3rem}}
aside p{{margin:.3rem 0;color:var(--faint)}}
aside li{{margin:.25rem 0}}
@media (max-width:700px){{main{{flex-direction:column}}aside{{width:auto;max-height:35vh;
border-left:0;border-top:1px solid var(--edge)}}}}
"""

_SCRIPT = """
const view = document.getElementById("view"), svg = view.querySelector("svg");
const about = document.getElementById("about"), slider = document.getElementById("threshold");
const whole = svg.getAttribute("viewBox").split(" ").map(Number);
let box = [...whole];
const show = () => svg.setAttribute("viewBox", box.join(" "));
const scale = () => Math.max(box[2] / view.clientWidth, box[3] / view.clientHeight);
let held = null, moved = false;
view.addEventListener("pointerdown", e => { held = [e.clientX, e.clientY]; moved = false; });
addEventListener("pointermove", e => {
  if (!held) return;
  const dx = e.clientX - held[0], dy = e.clientY - held[1];
  if (Math.abs(dx) + Math.abs(dy) > 3) moved = true;
  box[0] -= dx * scale(); box[1] -= dy * scale(); held = [e.clientX, e.clientY]; show();
});
addEventListener("pointerup", () => { held = null; });
view.addEventListener("wheel", e => {
  e.preventDefault();
  const factor = Math.exp(e.deltaY * 0.0012), area = view.getBoundingClientRect();
  const x = (e.clientX - area.left) / area.width, y = (e.clientY - area.top) / area.height;
  box = [box[0] + x * box[2] * (1 - factor), box[1] + y * box[3] * (1 - factor),
         box[2] * factor, box[3] * factor];
  show();
}, { passive: false });
document.getElementById("whole").addEventListener("click", () => { box = [...whole]; show(); });
const thin = () => {
  const least = Number(slider.value);
  document.getElementById("shown").textContent = least.toFixed(2);
  for (const link of svg.querySelectorAll(".link"))
    link.style.display = Number(link.dataset.p) < least ? "none" : "";
};
slider.addEventListener("input", thin);
const add = (tag, text, parent) => {
  const made = document.createElement(tag);
  made.textContent = text; parent.append(made); return made;
};
const choose = state => {
  for (const other of svg.querySelectorAll(".chosen")) other.classList.remove("chosen");
  state.classList.add("chosen");
  const number = state.dataset.state, facts = STATES[number];
  for (const link of svg.querySelectorAll(".link"))
    link.classList.toggle("near", link.dataset.from === number || link.dataset.to === number);
  about.textContent = "";
  add("h2", (Number(number) + 1) + ". " + facts.name, about);
  add("p", facts.share, about);
  add("p", facts.words, about);
  for (const [title, rows] of [["Said in it", facts.examples], ["Topics", facts.topics]]) {
    if (!rows.length) continue;
    add("h2", title, about);
    const list = add("ul", "", about);
    for (const row of rows) add("li", row, list);
  }
};
for (const state of svg.querySelectorAll(".state")) {
  state.addEventListener("click", () => { if (!moved) choose(state); });
  state.addEventListener("keydown", e => { if (e.key === "Enter") choose(state); });
}
"""
