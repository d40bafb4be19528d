#!/usr/bin/env python3
"""Compares how fast tiles of TIFFs are read with libtiff used directly, in one run.

  kinds.py FOLDER TILEREADER      # swift build -c release --package-path Benchmarks/Ranges

Makes the files in FOLDER, with GDAL, and builds direct.c there with cc. Each figure is the best of five runs, which take
turns: processor time for a tile on one thread, and tiles a second on one thread and on two.
"""

import os
import subprocess
import sys

WIDTH, HEIGHT, TILE = 6144, 4096, 256

# Name, what its samples are, GDAL's options, the range that both draw.
KINDS = [
    ("LZW, 3 x 8 bits", "rgb", ["COMPRESS=LZW"], None),
    ("Deflate and predictor, 3 x 16 bits", "sixteen", ["COMPRESS=DEFLATE", "PREDICTOR=2"], None),
    ("Zstandard, 16 bits with a sign", "signed", ["COMPRESS=ZSTD"], (-4000, 4000)),
    ("LERC, floats", "float", ["COMPRESS=LERC"], (0, 1000)),
    ("Deflate, 3 planes", "rgb", ["COMPRESS=DEFLATE", "INTERLEAVE=BAND"], None),
    ("CCITT group 4", "bilevel", ["COMPRESS=CCITTFAX4", "NBITS=1"], None),
    ("Deflate, CMYK", "rgba", ["COMPRESS=DEFLATE", "PHOTOMETRIC=CMYK"], None),
    ("JPEG and a mask", "rgb", ["COMPRESS=JPEG", "PHOTOMETRIC=YCBCR"], None),
]


def picture(kind):
    """Smooth colours with some noise, as a photo has."""
    import numpy

    dice = numpy.random.default_rng(1)
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH].astype(numpy.float32)
    planes = [127 + 100 * numpy.sin(x / (90 + 40 * band)) * numpy.cos(y / (70 + 30 * band)) for band in range(4)]
    count = {"rgb": 3, "sixteen": 3, "rgba": 4}.get(kind, 1)
    own = numpy.stack(planes[:count]) + dice.integers(-3, 4, (count, HEIGHT, WIDTH))
    if kind == "bilevel":
        return (own > 127).astype(numpy.uint8)
    if kind == "sixteen":
        return (own.clip(0, 255) * 257).astype(numpy.uint16)
    if kind == "signed":
        return (own * 40 - 4000).astype(numpy.int16)
    return (own * 4).astype(numpy.float32) if kind == "float" else own.clip(0, 255).astype(numpy.uint8)


def make(path, kind, options, has_mask):
    from osgeo import gdal, gdal_array

    gdal.UseExceptions()
    gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
    own = picture(kind)
    data = gdal_array.NumericTypeCodeToGDALTypeCode(own.dtype)
    options = ["TILED=YES", "BLOCKXSIZE=%d" % TILE, "BLOCKYSIZE=%d" % TILE] + options
    file = gdal.GetDriverByName("GTiff").Create(path, WIDTH, HEIGHT, own.shape[0], data, options)
    if has_mask:
        import numpy

        y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        file.CreateMaskBand(gdal.GMF_PER_DATASET)
        file.GetRasterBand(1).GetMaskBand().WriteArray(((x + y) % 1500 > 300).astype(numpy.uint8) * 255)
    for band in range(own.shape[0]):
        file.GetRasterBand(band + 1).WriteArray(own[band])


def main():
    folder, reader = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    direct = os.path.join(folder, "direct")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "direct.c")
    subprocess.run(["cc", "-O2", source, "-o", direct, "-ltiff", "-lpthread"], check=True)
    columns, rows = WIDTH // TILE, HEIGHT // TILE
    print("| samples | libtiff, ms a tile | TileCache, ms a tile | ratio | libtiff, tiles a second | TileCache, 2 workers | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for number, (name, kind, options, limits) in enumerate(KINDS):
        path = os.path.join(folder, "kind%d.tif" % number)
        if not os.path.exists(path):
            make(path, kind, options, "mask" in name)
        own = [str(limit) for limit in limits or ()]
        address = "tiff:" + path + ("#range=" + ",".join(own) if own else "")

        def other():
            words = subprocess.run([direct, path, "1"] + own, check=True, capture_output=True, text=True).stdout.split()
            return float(words[0]), float(words[2])

        def cache(workers):
            # The second pass has the memory of the first.
            command = [reader, address, "0", "0", str(columns), str(rows), str(workers), "2"]
            words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[1].split()
            assert words[3] == str(columns * rows) and words[5] == "0", words
            return float(words[2]) - float(words[0]), float(words[6])

        runs = [(other(), cache(1), cache(2)) for _ in range(5)]
        tiles = columns * rows
        alone, ours = (min(run[place][1] for run in runs) / tiles for place in (0, 1))
        one, two = (1e3 * tiles / min(run[place][0] for run in runs) for place in (0, 2))
        print("| %s | %.2f | %.2f | %.2f | %d | %d | %.2f |" % (name, alone, ours, alone / ours, one, two, two / one))


main()
