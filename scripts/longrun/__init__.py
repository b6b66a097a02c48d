"""The long run that `scripts/soak` starts."""
