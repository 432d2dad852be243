"""Speed and memory of cwtool beside its peers, measured in the same run."""
