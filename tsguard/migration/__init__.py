"""The migration plan to torch.export: blockers, lost features, order."""
