"""The page: plan, understand and release in a browser, on your own machine.

It calls the functions that the command line calls. The modules below need the extra ``web``;
nothing else of the package imports them.
"""
