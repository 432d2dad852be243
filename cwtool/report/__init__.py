"""Reports as Markdown, HTML and charts. This package knows nothing of models or of benchmarks:
their packages turn results into its tables, claims and charts."""
