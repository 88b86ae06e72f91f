"""Where everything of a picture stands: numbers only, no drawing.

The RST tree is in the notation of Mann & Thompson (1988) and of RSTTool: a line over each span,
from it a line to its nucleus, an arrow from each satellite to what it modifies with the relation
on it, and spokes from a multinuclear node to its nuclei. There are two ways to lay it out:

- "down", for a few EDUs: EDUs side by side, the root on top, as in textbooks;
- "right", for many: EDUs below each other in a column, as one reads, and the tree beside it, from
  its root at the left to the text at the right. What belongs closely together is joined close to
  the text, and a relation's name stands on the row of the satellite.

Dependencies have arcs above the EDUs ("down") or brackets beside them ("right"), from each head
to all that depends on it.

Every group owns a rectangle: as long as its EDUs, as deep as its relations' names. Rectangles of
different groups do not meet, so nothing overlaps whatever the tree; and one pass from the leaves
upwards finds them all, so that it takes linear time (n log n for dependencies).
"""
