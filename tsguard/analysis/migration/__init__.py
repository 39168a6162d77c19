"""What a way from TorchScript to torch.export has to know of the source: uses of torch.jit, losses, parts."""
