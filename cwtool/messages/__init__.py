"""Progress, results and notices of commands, as text or as JSON."""
