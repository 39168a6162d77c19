"""``python -m tsguard`` is the command ``tsguard``."""

from tsguard.cli import main

if __name__ == "__main__":
    main()
