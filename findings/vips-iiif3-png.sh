#!/bin/bash
# libvips: the description of a static IIIF set of PNG tiles does not say that they are PNG.
#
# Version: pyvips 3.2.0 with pyvips-binary 8.18.7 (libvips 8.18).
#
# Expected: a set of version 3 written with `suffix=".png"` names png in `preferredFormats` or `extraFormats` of its
# info.json: level 0 promises jpg alone. The same set of version 2 does so, in `formats` of its profile.
#
# Found: the info.json of version 3 is the same to the byte as that of a JPEG set. It names no format at all, so a
# viewer asks for default.jpg, and no tile is there. A reader has to try other formats after the first 404.
#
# Output seen:
#   version 2, .png: formats in its profile: ['png']; tiles: ['png']
#   version 3, .png: formats anywhere: []; tiles: ['png']
#   version 3: the description of the PNG set equals that of the JPEG set
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyvips==3.2.0 pyvips-binary==8.18.7
cd "$folder"
"$folder/venv/bin/python3" - <<'PYTHON'
import json, pathlib, sys
import pyvips

def write(layout, suffix):
    folder = pathlib.Path(layout + suffix.replace(".", "-"), "set")
    folder.parent.mkdir()
    picture = pyvips.Image.black(700, 500, bands=3) + [200, 60, 20]
    picture.cast("uchar").dzsave(str(folder), layout=layout, suffix=suffix, id="https://server.test/iiif")
    text = (folder / "info.json").read_text()
    return text, sorted({path.suffix[1:] for path in folder.rglob("default.*")})

def formats(value):
    """All values of fields whose names speak of formats."""
    if isinstance(value, dict):
        own = [entry for name, field in value.items() if "format" in name.lower() for entry in field]
        return own + [entry for field in value.values() for entry in formats(field)]
    return [entry for field in value for entry in formats(field)] if isinstance(value, list) else []

second, second_tiles = write("iiif", ".png")
third, third_tiles = write("iiif3", ".png")
jpeg, jpeg_tiles = write("iiif3", ".jpg")
in_profile = json.loads(second)["profile"][1]["formats"]
named = formats(json.loads(third))
print(f"version 2, .png: formats in its profile: {in_profile}; tiles: {second_tiles}")
print(f"version 3, .png: formats anywhere: {named}; tiles: {third_tiles}")
print(f"version 3: the description of the PNG set {'equals' if third == jpeg else 'differs from'} that of the JPEG set")
is_so = in_profile == ["png"] == second_tiles and named == [] and third_tiles == ["png"] and third == jpeg and jpeg_tiles == ["jpg"]
sys.exit(0 if is_so else "the behaviour has changed")
PYTHON
