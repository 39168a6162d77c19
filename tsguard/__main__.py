"""``python -m tsguard`` is the command ``tsguard``."""

import os
import sys

# Python puts the working folder first on the path, but there lies the user's code: its "statistics.py" is none of ours.
if sys.path[:1] == [os.getcwd()] and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from tsguard.cli import main

if __name__ == "__main__":
    main()
