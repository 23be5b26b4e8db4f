"""Connected components over ranks: a forest on each, united by one exchange of bits and a few pairs."""
