"""``python -m rhetorica.cli``."""

from rhetorica.cli import main

main()
