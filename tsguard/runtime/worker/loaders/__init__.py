"""DataLoaders measured: the same batches by other numbers of workers."""
