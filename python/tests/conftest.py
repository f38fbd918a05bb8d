"""The tests run on REPRISE_DEVICE, or on the device "reference", which every machine has."""

import os

os.environ.setdefault("REPRISE_DEVICE", "reference")
