"""``python -m rhetorica``."""

from rhetorica.cli import main

main()
