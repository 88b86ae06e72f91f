"""EDUs to trees, one module (or package) a parser; `rhetorica.pipeline.PARSERS` lists them."""
