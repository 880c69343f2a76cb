"""`python -m benchmarks` is `millstream bench`."""

import sys

from millstream.cli.main import main

if __name__ == "__main__":
    sys.argv[1:1] = ["bench"]
    main()
