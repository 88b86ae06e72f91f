"""Models of Rhetorica for Chinese; the entry point ``rhetorica.models`` leads here."""
