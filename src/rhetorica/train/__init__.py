"""Train what can be trained, choose settings on dev data, write model folders.

`treebank` reads the data; `loop` trains the segmenters and parsers of the papers, all in one way;
`card` writes what a folder holds. The neural parser (`neural`, with torch) and the syntax pipeline
(`syntax`, with spaCy) bring their own steps. *Fit* learns, *train* chooses and writes.
"""
