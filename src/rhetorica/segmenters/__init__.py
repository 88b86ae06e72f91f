"""A document with syntax to EDUs, one module each; `rhetorica.pipeline.SEGMENTERS` lists them."""
