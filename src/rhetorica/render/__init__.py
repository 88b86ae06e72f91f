"""Trees to look at: terminal, pictures, pages. Pure functions from a parse to text or bytes.

| function | gives |
|---|---|
| `render_tree` | an outline or a table for the terminal |
| `render_svg` | one picture: the RST tree in classical notation, or the dependency tree |
| `render_html` | a page with both pictures and the text, which needs nothing beside itself |
| `render_png` | the picture as pixels (extra ``rhetorica[png]``) |

`layout` does the arithmetic (where everything stands), `colours` knows the colours of the two
themes, `svg`, `html` and `png` only write down what these two say.
"""

from rhetorica.render.html import render_html
from rhetorica.render.png import render_png
from rhetorica.render.svg import render_svg
from rhetorica.render.terminal import render_tree

__all__ = ["render_html", "render_png", "render_svg", "render_tree"]
