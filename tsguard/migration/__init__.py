"""From a report to the way to torch.export: what is in the way, what is lost, in which order to go."""
