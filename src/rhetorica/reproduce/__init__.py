"""Rerun a paper's experiments on open treebanks and write its tables, one module a paper.

`runs` makes every training once and keeps it in a working folder, so an interrupted run goes on
where it stopped; `tables` writes Markdown.
"""
