"""What tests and benchmarks of constraints share: a validator, and the leaderboard's files."""
