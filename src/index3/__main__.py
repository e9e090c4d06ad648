"""`python -m index3`: the command line."""

from index3.cli import main

if __name__ == "__main__":
    main()
