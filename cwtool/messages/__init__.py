"""What is told: progress, results and notices, as text or as JSON."""
