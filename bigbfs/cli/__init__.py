"""The command line: one module per command, shared options, one place that turns errors into exit codes."""
