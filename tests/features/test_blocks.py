"""Long texts in blocks: against a search over all ways to cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rhetorica.features.blocks import blocks


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 12))
def test_blocks_cover_all_and_end_at_the_last_paragraph_in_reach(
    begins: list[bool], largest: int
) -> None:
    found = blocks(begins, largest)
    assert [at for block in found for at in block] == list(range(len(begins)))
    for block in found:
        assert 0 < len(block) <= largest
        reach = range(block.start + 1, min(block.start + largest, len(begins)) + 1)
        good = [at for at in reach if at == len(begins) or begins[at]]
        assert block.stop == max(good, default=block.start + largest)


def test_a_short_text_is_one_block() -> None:
    assert blocks([True, True, True], 3) == [range(0, 3)]
    assert blocks([], 3) == []
