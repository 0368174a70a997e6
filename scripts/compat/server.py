#!/usr/bin/env python3
"""The dashboard: `server.py [OPTIONS]` is `cargento [OPTIONS]`."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _cargento import act  # noqa: E402

act(status=1)
