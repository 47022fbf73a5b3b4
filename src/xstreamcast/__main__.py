"""`python -m xstreamcast` is the command `xstreamcast`."""

from xstreamcast.cli.entry import entry

if __name__ == "__main__":  # processes that are spawned import this file
    entry()
