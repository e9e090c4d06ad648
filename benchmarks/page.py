"""Time of a picture and size of a page: 200 bodies, 1000 frames, 1280 x 720, software rendering in headless Chromium.

Usage: python benchmarks/page.py [--bodies 200] [--frames 1000]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import index3 as ix

SWITCHES = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, default=200)
    parser.add_argument("--frames", type=int, default=1000)
    settings = parser.parse_args()
    model = ix.library.chain(settings.bodies)
    result = ix.simulate(model, (0, 10.0), method="hht-i3", rtol=1e-3, t_eval=np.linspace(0, 10.0, settings.frames))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as library:
        path = Path(folder) / "run.html"
        result.to_html(path, fps=1000.0)
        print(f"page {path.stat().st_size / 1e6:.2f} MB")
        browser = library.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(f"{path.as_uri()}#t=0")
        page.evaluate("index3.time(0)")
        times = [page.evaluate(f"index3.time({t})") for t in np.linspace(0, 10.0, 100)]
        print(f"picture: median {np.median(times):.1f} ms, least {min(times):.1f} ms, worst {max(times):.1f} ms")
        browser.close()


if __name__ == "__main__":
    main()
