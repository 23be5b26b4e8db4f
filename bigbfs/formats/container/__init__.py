"""Graph files: .csrbin and .ccsr, and the layouts of others that are read in place."""
