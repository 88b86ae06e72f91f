"""The tables of Cortes, Kuznetsov & Mohri (2014)."""
