"""Files judged again and again while they are written: what an edit does not touch is not judged anew."""

from tsguard.incremental.judge import Judge

__all__ = ["Judge"]
