"""What many searches are for: distances, closeness, hop counts, paths, eccentricities; as functions of Python."""
