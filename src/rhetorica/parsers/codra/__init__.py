"""``codra``: two-stage RST parsing with CRFs and CKY (Joty, Carenini & Ng 2015).

| module | what |
|---|---|
| `units` | units, joins, the sequences of Algorithms 1 and 2 |
| `features`, `rows` | Table 1's seven groups and ours; features as rows of weights |
| `dcrf`, `crf`, `treecrf` | the chain, the simplified model, the likelihood of trees |
| `sentence`, `document` | the two parsing models |
| `examples` | training data from gold trees |
| `stages` | 1S-1S, sliding window, three-way |
| `parser` | the parser |
"""
