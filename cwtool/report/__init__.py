"""Reports as Markdown, HTML and charts. This package knows nothing of models or of benchmarks:
whoever has results turns them into its tables, claims and charts."""
