#!/bin/bash
# xarray: appending a time between two units to a Zarr writes it in another unit than the store says.
#
# Version: xarray 2026.9.0, zarr 3.1.6, pandas 3.1.1, numpy 2.4.6.
#
# Expected: to_zarr with append_dim uses the units that the store has ("hours since ..."), as a fraction of a unit if need be, or refuses.
#
# Found: if a time is no whole number of the store's units, the new part is encoded in a finer unit of its own, and the
# attributes of the store stay. A warning speaks of "serializing with units 'minutes since ...' instead", which sounds as if it had been
# done. The step of 02:30 after 01:00 is 150, read as 150 hours: six days late, with no error. After whole days, half a
# second makes a number so large that the store cannot be opened with its times any more. A time slider over such an
# axis jumps; the first write decides the unit by its own steps, so an hourly series is hit by its first half hour.
#
# Output seen:
#   hourly, 02:00 appended: units hours, stored 0 1 2, last read 2026-11-28 02:00, warned: no
#   hourly, 02:30 appended: units hours, stored 0 1 150, last read 2026-12-04 06:00, warned: yes
#   daily, 0.5 s past noon appended: units days, opening: ValueError
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || exit 77
"$work/venv/bin/pip" -q install --disable-pip-version-check xarray==2026.9.0 zarr==3.1.6 pandas==3.1.1 numpy==2.4.6 ||
    { echo "needs a package index"; exit 77; }
"$work/venv/bin/python" - "$work" << 'PY' | tee "$work/seen"
import sys, warnings
import numpy as np, pandas as pd, xarray as xr, zarr

def show(name, times, later):
    def part(times):
        index = pd.DatetimeIndex(times)
        return xr.Dataset({"value": ("time", np.arange(len(index)))}, coords={"time": index})
    path = f"{sys.argv[1]}/store.zarr"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        part(times).to_zarr(path, mode="w", consolidated=False)
        part([later]).to_zarr(path, append_dim="time", consolidated=False)
    warned = any("serialized faithfully" in str(warning.message) for warning in caught)
    stored = zarr.open(path)["time"]
    text = f"{name} appended: units {stored.attrs['units'].split()[0]}"
    try: last = pd.Timestamp(xr.open_zarr(path, consolidated=False)["time"].values[-1])
    except ValueError as error: print(f"{text}, opening: {type(error).__name__}")
    else: print(f"{text}, stored", *map(int, stored[:]), end=f", last read {last:%Y-%m-%d %H:%M}, warned: {'yes' if warned else 'no'}\n")

hours, days = ["2026-11-28T00:00", "2026-11-28T01:00"], ["2026-11-28", "2026-11-29"]
show("hourly, 02:00", hours, "2026-11-28T02:00")
show("hourly, 02:30", hours, "2026-11-28T02:30")
show("daily, 0.5 s past noon", days, "2026-11-30T12:00:00.5")
PY
diff "$work/seen" <(sed -n 's/^#   //p' "$0") && echo "as found"
