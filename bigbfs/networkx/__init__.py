"""bigbfs as a backend of NetworkX: ``nx.connected_components(G, backend="bigbfs")`` (the extra ``networkx``).

``info`` is what NetworkX reads of every backend when it is imported; it imports nothing. ``backend`` has the functions,
under the names that NetworkX has for them.
"""
