"""The articles' cases on a GPU: the Conv2d of 35.5 ms to 17.4 ms, the LSTM.

    python benchmarks/gpu.py [--device cuda:0]

Needs a CUDA build of torch and a device; says so and ends with status 1 without.
"""

from __future__ import annotations

import argparse

from articles import CASES, table

from tsguard.runtime.site import local_site


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=10.0, help="timing budget of each attempt")
    options = parser.parse_args()
    with local_site(None, 1) as site:
        index = int(options.device.partition(":")[2] or 0)
        if index >= len(site.cuda):
            print(
                f"no {options.device} here: torch {site.environment.torch} sees {len(site.cuda)} CUDA devices"
            )
            return 1
        print(f"torch {site.environment.torch}, {site.cuda[index]}\n")
        modules = [case for case in CASES if case.file != "collate.py"]
        for line in table(site, modules, options.device, options.seconds):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
