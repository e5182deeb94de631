"""The page: plan, understand and release in a browser, on your own machine.

It calls the same functions as the command line. Its modules need the extra ``web``; nothing else
in the package imports them.
"""
