"""Models of Rhetorica for English; the entry point ``rhetorica.models`` leads here."""
