"""Where each harness keeps its hooks, and how chitta's entries get in and out without touching anything else."""
