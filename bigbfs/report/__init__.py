"""How results are shown: tables for people, JSON for programs, plots. Everything derives from the records."""
