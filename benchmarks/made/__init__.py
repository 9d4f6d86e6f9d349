"""Documents whose right text is known, because the benchmark draws them itself."""
