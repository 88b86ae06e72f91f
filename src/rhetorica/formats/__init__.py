"""Every file format by name."""
