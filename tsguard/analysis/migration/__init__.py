"""Facts for the migration to torch.export: uses of torch.jit, lost features, parts of targets."""
