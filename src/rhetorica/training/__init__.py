"""Train segmenters and parsers from treebanks, choose settings on dev data, write model folders.

One module a family: `segmenters` (crf, logistic), `li2014`, ... The neural parser has its own,
`rhetorica.parse.neural.training`, since it needs torch.
"""
