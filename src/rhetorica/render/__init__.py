"""Trees to look at: terminal, pictures, pages. Pure functions from a parse to text or bytes.

| function | gives |
|---|---|
| `render_tree` | an outline or a table for the terminal |
| `render_svg` | one picture: the RST tree in classical notation, or the dependency tree |
| `render_html` | a page with both pictures and the text, which needs nothing beside itself |
| `render_png` | the picture as pixels (extra ``rhetorica[png]``) |
| `render_pdf` | the picture as PDF: letters and lines, fonts included |
| `render_latex` | source for LaTeX's package forest |

`layout` does the arithmetic (where everything stands), `colours` knows the colours of the two
themes, `paths` how lines are drawn; `svg`, `html`, `png` and `pdf` only write down what these say.
"""

from rhetorica.render.html import render_html
from rhetorica.render.latex import render_latex
from rhetorica.render.pdf import render_pdf
from rhetorica.render.png import render_png
from rhetorica.render.svg import render_svg
from rhetorica.render.terminal import render_tree

__all__ = [
    "render_html",
    "render_latex",
    "render_pdf",
    "render_png",
    "render_svg",
    "render_tree",
]
