"""Train segmenters and parsers from treebanks, choose settings on dev data, write model folders.

One module a family: `segmenters` (crf, logistic), `li2014`, ... The neural parser has its own,
`rhetorica.train.neural`, since it needs torch.
"""
