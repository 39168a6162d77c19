"""One answer from all that is known of a target: what to do with it."""
