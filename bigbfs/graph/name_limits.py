"""Where a page of names ends: with the name by which it has so many names, or front-coded so many bytes."""

PAGE_NAMES, PAGE_BYTES = 1024, 1 << 16
