"""Check that a built site fetches nothing from elsewhere: no font, script, style or picture."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

_FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
_URL = re.compile(r"""(?:@import|url\()\s*["']?(?:https?:)?//[^"')\s]+""")


class _Page(HTMLParser):
    """Collects what a page fetches when it is opened; links to follow by hand do not count."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get(_FETCHED.get(tag, ""), "") or ""
        if target.startswith(("http:", "https:", "//")):
            self.fetched.append(target)


def fetched(site: Path) -> list[str]:
    """Return what pages and styles of a site fetch from elsewhere, with the file that does."""
    found: list[str] = []
    for path in sorted(site.rglob("*.html")):
        page = _Page()
        page.feed(path.read_text("utf-8"))
        found += [f"{path.relative_to(site)}: {target}" for target in page.fetched]
    for path in sorted(site.rglob("*.css")):
        found += [
            f"{path.relative_to(site)}: {url}" for url in _URL.findall(path.read_text("utf-8"))
        ]
    return found


def main(folder: str) -> int:
    """Print what is fetched; return 1 if anything is, or if there is no site."""
    pages = list(Path(folder).rglob("*.html"))
    found = fetched(Path(folder))
    for line in found:
        print(f"fetched from elsewhere: {line}", file=sys.stderr)
    print(f"{len(pages)} pages, {len(found)} things fetched from elsewhere")
    return int(bool(found) or not pages)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
