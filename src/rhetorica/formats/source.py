from rhetorica.source import *  # noqa
from rhetorica.source import Readable, Source, document_id, decode, write_text, write_bytes  # noqa
