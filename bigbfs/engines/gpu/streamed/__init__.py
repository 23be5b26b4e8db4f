"""Edges that stay in their file: read in batches into pinned memory, and copied while the batch before is traversed.

``reader`` reads stretches of a file by many threads, ``batches`` decides which stretches make a batch and which rows
lie where in it, ``feed`` moves batches through the buffers, ``placement`` holds what lives in device memory, ``bfs``
and ``components`` run the levels and passes, ``ledger`` adds up the bytes, ``costs`` choose directions.
"""
