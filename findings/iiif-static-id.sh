#!/bin/bash
# iiif_static.py: a static set's description names a relative `@id`.
#
# Version: iiif 1.0.10, Pillow 12.0.0.
#
# Expected: `@id` is the address of the image, of http or https, as the Image API 2.1 demands (5.2); without --prefix the
# generator refuses, or leaves it out.
#
# Found: without --prefix, which is the default, `@id` is the name of the file alone. A viewer that takes it for the
# beginning of its requests, as the API says, asks for no address at all; one that demands an address refuses the set. The
# tiles are beside the description.
#
# Output seen:
#   @id: picture
#   regions beside info.json: 16
set -euo pipefail
script=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install iiif==1.0.10 pillow==12.0.0
cd "$folder"
"$folder/venv/bin/python" -c 'from PIL import Image; Image.radial_gradient("L").resize((1000, 700)).save("picture.jpg")'
"$folder/venv/bin/python" "$folder/venv/bin/iiif_static.py" --dst set --tilesize 256 picture.jpg >"$folder/log" 2>&1
"$folder/venv/bin/python" - <<'PYTHON' | tee "$folder/seen"
import json, pathlib

print("@id:", json.loads(pathlib.Path("set/picture/info.json").read_text())["@id"])
regions = {path.parts[2] for path in pathlib.Path("set/picture").rglob("default.jpg")} - {"full"}
print("regions beside info.json:", len(regions))
PYTHON
diff "$folder/seen" <(sed -n 's/^#   //p' "$script")
