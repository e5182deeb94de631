"""Whether the long tests run too: ``make soak`` asks for them."""

import os

SOAK = os.environ.get("DPROO_SOAK") == "1"
