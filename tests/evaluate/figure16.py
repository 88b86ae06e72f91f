"""The two trees of CODRA (Joty et al. 2015), Figure 16, over EDUs made of the pieces 1 to 7."""

from __future__ import annotations

from rhetorica import Document, Join, Parse, RSTTree

HUMAN = Parse(
    Document.from_edus(["1", "2 3", "4", "5", "6", "7"]),
    RSTTree(
        6,
        (
            Join(0, 3, 6, "NN", "Contrast"),
            Join(0, 1, 3, "SN", "Attribution"),
            Join(1, 2, 3, "NN", "Contrast"),
            Join(3, 5, 6, "NN", "Same-Unit"),
            Join(3, 4, 5, "NS", "Elaboration"),
        ),
    ),
)
SYSTEM = Parse(
    Document.from_edus(["1", "2", "3", "4", "5 6", "7"]),
    RSTTree(
        6,
        (
            Join(0, 1, 6, "SN", "Attribution"),
            Join(1, 4, 6, "NN", "Contrast"),
            Join(1, 3, 4, "NN", "Contrast"),
            Join(1, 2, 3, "SN", "Elaboration"),
            Join(4, 5, 6, "NN", "Joint"),
        ),
    ),
)
