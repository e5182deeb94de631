"""Run the command line: ``python -m dproo`` is ``dproo``."""

from dproo.cli import main

if __name__ == "__main__":
    main()
