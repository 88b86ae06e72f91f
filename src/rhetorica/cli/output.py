"""Results of the commands on their way out: to a file, a folder, or standard output."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from rhetorica import formats
from rhetorica.cli.common import say
from rhetorica.cli.pictures import PICTURES, check_picture, draw, write_picture
from rhetorica.errors import FormatError, RhetoricaError, UnknownName
from rhetorica.files import file_name, write_text
from rhetorica.parses import Parse
from rhetorica.render.layout.parts import View
from rhetorica.render.terminal import render_tree

TREE = "tree"
_LINES = (TREE, "edus", "conllu", "tok", "rels")
"""Of a document without text these print nothing; a file of them would be one we cannot read."""
OUTPUTS = (
    "Formats:\n\n"
    + "\n\n".join(f"- `{one.name}`: {one.about}" for one in formats.FORMATS.values())
    + f"\n\nTo look at:\n\n- `{TREE}`: an outline for the terminal\n\n"
    + "\n\n".join(f"- `{name}`: {about}" for name, about in PICTURES.items())
)
"""What ``--to`` and the extension of ``--out`` can name, in every command that writes trees."""


@dataclass
class Sink:
    """Where results go: a file that ``--out`` names by its extension, a folder, standard output.

    ``how`` are options of pictures, ``style`` those of formats. With ``tokenize``, documents get
    tokens where the format needs them.
    """

    to: str
    out: Path | None = None
    view: View = "rst"
    force: bool = False
    how: dict[str, Any] = field(default_factory=dict)
    style: formats.Style | None = None
    tokenize: bool = True
    width: int | None = None
    named: bool = False
    _names: dict[Path, set[str]] = field(default_factory=dict)
    _number: int = 0
    _held: list[Parse] = field(default_factory=list)
    _drawn: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, to: str | None, out: Path | None, default: str, files: int, **more: Any) -> Sink:
        """Check before any work that the results can be written."""
        kinds = {f".{picture}": picture for picture in PICTURES}
        kinds |= {".tex": "latex"}
        kinds |= {suffix: f.name for f in formats.FORMATS.values() for suffix in f.suffixes}
        kinds |= {".txt": default} if default else {}
        told = kinds.get(out.suffix.lower()) if out and not out.is_dir() else None
        sink = cls(to or told or default, out, **more)
        if not sink.to:
            known = ", ".join([TREE, *formats.FORMATS, *PICTURES])
            raise RhetoricaError(f"--to is missing: one of {known}")
        if sink.to != TREE and sink.to not in PICTURES and sink.to not in formats.FORMATS:
            raise UnknownName("format", sink.to, [TREE, *formats.FORMATS, *PICTURES])
        check_picture(sink.to)
        if told and out:
            if files > 1 and not sink.many:
                raise RhetoricaError(f"{files} files, and {out} holds one: give a folder")
            sink.named = True
        elif out is None and files > 1 and not sink.many:
            raise RhetoricaError(f"{files} files, and {sink.to} holds one: give --out FOLDER")
        if out is not None:
            _check_folder(out.parent if sink.named else out, out)
            if sink.named:
                sink._require_free(out)
        return sink

    @property
    def many(self) -> bool:
        """Whether one file holds several documents."""
        return self.to == TREE or (self.to in formats.FORMATS and self._format.many)

    @property
    def takes_one(self) -> bool:
        """Whether all that can be written is one document."""
        return not self.many and (self.out is None or self.named)

    @property
    def _format(self) -> formats.Format:
        return formats.get_format(self.to)

    def write(self, parse: Parse, *, folder: Path = Path(), title: str = "") -> None:
        """Write one result; in an output folder, into a folder of that name below it."""
        self._number += 1
        if not parse.document.edus and not (self.to in PICTURES or self.to in ("json", "jsonl")):
            why = f"{parse.id or 'the input'}: no text"
            if self.out is not None or self.to not in _LINES:
                raise RhetoricaError(f"{why}, nothing to write")
            say(why)
            return
        alone = self.out is None or self.named
        if self.takes_one and self._held:
            raise RhetoricaError(
                f"more than one document, and {self.to} holds one a file: give --out FOLDER"
            )
        if self.to == TREE and alone:
            text = self._text(parse, colour=self.out is None)
            if title:
                text = f"{'' if self._number == 1 else chr(10)}== {title}\n{text}"
            if self.out is None:
                write_text("-", text)
            else:
                self._drawn.append(text)
        elif alone and (self.named or self.to != "jsonl"):
            # Of one file, head and end belong to all; and nothing is written if there are too many.
            self._held.append(self._with_tokens(parse))
        else:
            self._put(parse, None if alone else self._path(parse, folder))

    def finish(self) -> None:
        """Write what was held back until all documents are known."""
        if self._drawn:
            write_text(self.out or "-", "\n".join(self._drawn))
        if self._held and not self.many:
            self._put(self._held[0], self.out)
        elif self._held:
            write_text(self.out or "-", formats.write(self._held, self.to, self.style))

    def _put(self, parse: Parse, path: Path | None) -> None:
        if self.to in PICTURES:
            write_picture(draw(parse, self.to, view=self.view, **self.how), self.to, path)
        else:
            write_text(path or "-", self._text(self._with_tokens(parse), colour=False))

    def check_free(self, id: str, folder: Path) -> None:
        """Refuse a document of this name if its file in the output folder is there already."""
        if self.out is not None and not self.named and id:
            self._require_free(self._file(file_name(id, set()), folder))

    def _path(self, parse: Parse, folder: Path) -> Path:
        """Return the file for a result in the output folder; never one that is there."""
        taken = self._names.setdefault(folder, set())
        path = self._file(file_name(parse.id or f"document-{self._number}", taken), folder)
        self._require_free(path)
        return path

    def _file(self, name: str, folder: Path) -> Path:
        end = {TREE: ".txt", "latex": ".tex"}.get(self.to, f".{self.to}")
        if self.to in formats.FORMATS:
            end = self._format.suffixes[0]
        return (self.out or Path()) / folder / f"{name}{end}"

    def _require_free(self, path: Path) -> None:
        if path.exists() and not self.force:
            raise FormatError(str(path), None, "is there already: --force replaces it")

    def _with_tokens(self, parse: Parse) -> Parse:
        if self.to not in formats.FORMATS or not self._format.needs_tokens or parse.document.tokens:
            return parse
        if not self.tokenize:
            name = parse.id or "this document"
            raise RhetoricaError(
                f"{name} has no tokens, which {self.to} needs: --tokenize adds them"
            )
        return parse.tokenized()

    def _text(self, parse: Parse, *, colour: bool) -> str:
        if self.to != TREE:
            return formats.write(parse, self.to, self.style)
        console = Console(highlight=False)
        colour = colour and console.is_terminal and not console.no_color
        how = {name: value for name, value in self.how.items() if name in ("clip", "depth")}
        wide = self.width or console.width
        return render_tree(parse, width=wide, color=colour, view=self.view, **how) + "\n"


def _check_folder(folder: Path, out: Path) -> None:
    """Refuse a folder that cannot be made or written to; it is made with its first file."""
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise RhetoricaError(f"--out {out}: {place} is a file, not a folder")
    if not os.access(place, os.W_OK):
        raise RhetoricaError(f"--out {out}: {place} cannot be written to")
