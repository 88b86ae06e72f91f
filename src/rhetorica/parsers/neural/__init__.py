"""The default parser: a small pretrained encoder, one pass, on any CPU.

`wordpiece` cuts text into pieces, `windows` feeds them to the encoder, `network` scores, `units`
has the features beside the words, `decode` finds the tree, and `parser` puts it all together.
"""

from rhetorica.parsers.neural.parser import NeuralParser

__all__ = ["NeuralParser"]
