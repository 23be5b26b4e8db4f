"""Single searches that close in on the diameter, and the bounds that they leave: no algorithm of the registry."""
