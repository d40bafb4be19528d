"""Large pictures that other programs write, and windows of them as other programs read them.

usage: other_readers.py modules NAME...               -- succeeds if all of these Python modules are there
       other_readers.py make KIND IN WIDTH HEIGHT OUT  -- writes OUT from IN, red, green, blue and alpha of 8 bits
       other_readers.py read READER FILE SEED OUT      -- writes windows of FILE to OUT
       other_readers.py translate LIST OUT             -- writes the samples of each raster of LIST to OUT and its number

Commands may follow each other, with the word `then` between them.

A window is five numbers of 32 bits (level, from the finest; x; y; width; height) and its pixels, red, green, blue and
alpha of 8 bits. There are 200 random ones, and of each level all corners and the middles of all edges.
"""
import importlib
import random
import struct
import subprocess
import sys


def eight_bits(pixels):
    """Samples of 16 bits are rounded, numbers with a point are 0 to 1."""
    import numpy

    if pixels.dtype == numpy.uint16:
        return ((pixels.astype(numpy.uint32) * 255 + 32767) // 65535).astype(numpy.uint8)
    if pixels.dtype in (numpy.float32, numpy.float64):
        return (numpy.clip(pixels.astype(numpy.float64), 0, 1) * 255 + 0.5).astype(numpy.uint8)
    return pixels


def rgba(pixels):
    """Rows of pixels of 1, 3 or 4 samples as red, green, blue and alpha."""
    import numpy

    pixels = eight_bits(pixels)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.shape[2] == 1:
        pixels = numpy.repeat(pixels, 3, axis=2)
    if pixels.shape[2] == 3:
        alpha = numpy.full(pixels.shape[:2] + (1,), 255, numpy.uint8)
        pixels = numpy.concatenate([pixels, alpha], axis=2)
    return numpy.ascontiguousarray(pixels)


class GDAL:
    """GDAL's own overviews."""

    def __init__(self, path):
        from osgeo import gdal

        gdal.UseExceptions()
        self.file = gdal.Open(path)
        first = self.file.GetRasterBand(1)
        self.sizes = [(first.XSize, first.YSize)]
        for index in range(first.GetOverviewCount()):
            self.sizes.append((first.GetOverview(index).XSize, first.GetOverview(index).YSize))

    def window(self, level, x, y, width, height):
        import numpy

        bands = [self.file.GetRasterBand(index + 1) for index in range(self.file.RasterCount)]
        shown = [band if level == 0 else band.GetOverview(level - 1) for band in bands]
        pixels = numpy.stack([band.ReadAsArray(x, y, width, height) for band in shown], axis=2)
        own = rgba(self.colours(bands, pixels))
        from osgeo import gdal

        if bands[0].GetMaskFlags() == gdal.GMF_PER_DATASET:
            own[:, :, 3] = shown[0].GetMaskBand().ReadAsArray(x, y, width, height)
        return own

    def colours(self, bands, pixels):
        """What GDAL says of the colours of samples, applied to them."""
        import numpy
        from osgeo import gdal

        table, first = bands[0].GetColorTable(), bands[0]
        if table:
            entries = [table.GetColorEntry(index)[:3] for index in range(table.GetCount())]
            return numpy.array(entries, numpy.uint8)[pixels[:, :, 0]]
        bits = int(first.GetMetadataItem("NBITS", "IMAGE_STRUCTURE") or 8 * pixels.itemsize)
        stated = [first.GetMetadataItem("STATISTICS_" + name) for name in ("MINIMUM", "MAXIMUM")]
        if all(stated):
            # The range is that of all bands.
            low = min(float(band.GetMetadataItem("STATISTICS_MINIMUM")) for band in bands[:3])
            high = max(float(band.GetMetadataItem("STATISTICS_MAXIMUM")) for band in bands[:3])
            own = (pixels.astype(numpy.float64) - low) * (1 / (high - low))
            own = (numpy.clip(own, 0, 1) * 255 + 0.5).astype(numpy.uint8)
            none = first.GetNoDataValue()
            if none is not None:
                if own.shape[2] == 1:
                    own = numpy.repeat(own, 3, axis=2)
                alpha = numpy.where((pixels[:, :, :3] == none).all(axis=2), 0, 255).astype(numpy.uint8)
                own = numpy.concatenate([own[:, :, :3], alpha[:, :, None]], axis=2)
            return own
        if bits not in (8, 16, 32, 64):
            most = (1 << bits) - 1
            pixels = ((pixels.astype(numpy.int64) * 510 + most) // (2 * most)).astype(numpy.uint8)
        if self.file.GetMetadataItem("MINISWHITE", "IMAGE_STRUCTURE") == "YES":
            pixels = 255 - eight_bits(pixels)
        if first.GetColorInterpretation() == gdal.GCI_CyanBand:
            inks = 255 - eight_bits(pixels).astype(numpy.int64)
            pixels = ((inks[:, :, :3] * inks[:, :, 3:] + 127) // 255).astype(numpy.uint8)
        if pixels.shape[2] == 2:
            pixels = pixels[:, :, [0, 0, 0, 1]]
        if pixels.shape[2] > 4:
            pixels = pixels[:, :, :3]
        return pixels


class Rasterio:
    def __init__(self, path):
        import rasterio

        with rasterio.open(path) as file:
            count = len(file.overviews(1))
        self.files = [rasterio.open(path)] + [rasterio.open(path, overview_level=index) for index in range(count)]
        self.sizes = [(file.width, file.height) for file in self.files]

    def window(self, level, x, y, width, height):
        import numpy
        from rasterio.windows import Window

        return rgba(numpy.moveaxis(self.files[level].read(window=Window(x, y, width, height)), 0, 2))


class TIFFFile:
    def __init__(self, path):
        import tifffile

        series = tifffile.TiffFile(path).series[0]
        planar = series.axes.startswith("S")
        import numpy

        self.levels = [level.asarray() for level in series.levels]
        if planar:
            self.levels = [numpy.moveaxis(level, 0, 2) for level in self.levels]
        self.sizes = [(level.shape[1], level.shape[0]) for level in self.levels]

    def window(self, level, x, y, width, height):
        return rgba(self.levels[level][y : y + height, x : x + width])


class OpenSlide:
    def __init__(self, path):
        import openslide

        self.file = openslide.OpenSlide(path)
        self.sizes = list(self.file.level_dimensions)

    def window(self, level, x, y, width, height):
        import numpy

        # Places are those of the finest level. Those of coarser ones are chosen so that they are whole.
        scale = round(self.file.level_downsamples[level])
        image = self.file.read_region((x * scale, y * scale), level, (width, height))
        return numpy.asarray(image)


READERS = {"gdal": GDAL, "rasterio": Rasterio, "tifffile": TIFFFile, "openslide": OpenSlide}


def read(reader, path, seed, out):
    file = READERS[reader](path)
    dice = random.Random(int(seed))
    places = []
    for level, (width, height) in enumerate(file.sizes):
        wide, high = min(width, 70), min(height, 60)
        for x in (0, (width - wide) // 2, width - wide):
            for y in (0, (height - high) // 2, height - high):
                places.append((level, x, y, wide, high))
    for _ in range(200):
        level = dice.randrange(len(file.sizes))
        width, height = file.sizes[level]
        wide, high = dice.randint(1, min(width, 150)), dice.randint(1, min(height, 150))
        places.append((level, dice.randint(0, width - wide), dice.randint(0, height - high), wide, high))
    with open(out, "wb") as target:
        for place in places:
            pixels = file.window(*place)
            assert pixels.shape == (place[4], place[3], 4), (place, pixels.shape)
            target.write(struct.pack("<5i", *place) + pixels.tobytes())


def translate(list_path, out):
    """Rasters, or windows of them, as gdal_translate writes them. A line is FILE|OPTIONS|WINDOW."""
    from osgeo import gdal

    gdal.UseExceptions()
    with open(list_path) as lines:
        for number, line in enumerate(lines):
            path, options, window = line.rstrip("\n").split("|")
            own = {"projWin": [float(edge) for edge in window.split()]} if window else {}
            try:
                file = gdal.OpenEx(path, open_options=options.split())
                gdal.Translate(out + str(number), file, format="ENVI", creationOptions=["INTERLEAVE=BIP"], **own)
            except RuntimeError as error:
                # A window beside the raster.
                print(error, file=sys.stderr)


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def geotiff(pixels, out):
    """A GeoTIFF of these samples, without compression."""
    from osgeo import gdal, gdal_array

    gdal.UseExceptions()
    kind = gdal_array.NumericTypeCodeToGDALTypeCode(pixels.dtype)
    file = gdal.GetDriverByName("GTiff").Create(
        out, pixels.shape[1], pixels.shape[0], pixels.shape[2], kind, ["ALPHA=YES"] if pixels.shape[2] == 4 else []
    )
    for index in range(pixels.shape[2]):
        file.GetRasterBand(index + 1).WriteArray(pixels[:, :, index])


def samples(pixels, kind):
    import numpy

    if kind == "grey":
        return pixels[:, :, :1]
    if kind == "sixteen":
        return pixels[:, :, :3].astype(numpy.uint16) * 250 + 99
    if kind == "float":
        return pixels[:, :, :3].astype(numpy.float32) / 200 - 0.1
    return pixels if kind == "rgba" else pixels[:, :, :3]


def make_cog(pixels, words, out):
    """cog:COMPRESSION[:PREDICTOR[:SAMPLES]] with gdal_translate."""
    geotiff(samples(pixels, words[2]), out + ".source.tif")
    # WebP without loss, so that both decode the same.
    more = ["-co", "QUALITY=90"] if words[0] == "JPEG" else ["-co", "QUALITY=100"] if words[0] == "WEBP" else []
    run(
        "gdal_translate", "-q", "-of", "COG", "-co", "COMPRESS=" + words[0], "-co", "PREDICTOR=" + words[1],
        "-co", "BLOCKSIZE=128", *more, out + ".source.tif", out,
    )  # fmt: skip


def bands_of(pixels, name):
    """Samples of a kind, and the options with which GDAL writes them."""
    import numpy

    grey = pixels[:, :, :1]
    if name.startswith("bits"):
        bits = int(name[4:])
        # Different codes beside each other.
        codes = (pixels[:, :, :1].astype(numpy.uint32) * 257 + pixels[:, :, 1:2]) % 65536 >> (16 - bits)
        return codes.astype(numpy.uint8 if bits <= 8 else numpy.uint16), ["NBITS=%d" % bits]
    if name == "two":
        return pixels[:, :, [0, 3]], ["ALPHA=YES"]
    if name == "five":
        return pixels[:, :, [0, 1, 2, 0, 1]], []
    if name == "cmyk":
        return pixels, ["PHOTOMETRIC=CMYK"]
    wide = (pixels[:, :, :3].astype(numpy.int64) * 257 + pixels[:, :, 1:2]) - 20000
    if name in ("int16", "int32", "uint32", "float16", "float32", "float64"):
        options = ["NBITS=16"] if name == "float16" else []
        kind = "float32" if name == "float16" else name
        return (numpy.clip(wide, 0, None) if name == "uint32" else wide // 2).astype(kind), options
    if name == "dem":
        return (wide[:, :, :1] // 2).astype(numpy.int16), []
    return {"palette": grey, "grey": grey, "rgb": pixels[:, :, :3], "rgba": pixels}[name], []


def make_gtiff(pixels, words, out):
    """gtiff:BANDS:OPTIONS with GDAL: a tiled file with two overviews, the options joined by commas."""
    import numpy
    from osgeo import gdal, gdal_array

    gdal.UseExceptions()
    own, options = bands_of(pixels, words[0])
    options = options + ["TILED=YES", "BLOCKXSIZE=128", "BLOCKYSIZE=128"] + [word for word in words[1].split(",") if word]
    kind = gdal_array.NumericTypeCodeToGDALTypeCode(own.dtype)
    file = gdal.GetDriverByName("GTiff").Create(out, own.shape[1], own.shape[0], own.shape[2], kind, options)
    if words[0] == "palette":
        table = gdal.ColorTable()
        for index in range(256):
            table.SetColorEntry(index, (index, 255 - index, index * 7 % 256, 255))
        file.GetRasterBand(1).SetColorTable(table)
    if words[0] == "dem":
        file.GetRasterBand(1).SetNoDataValue(int(own[3, 3, 0]))
    for index in range(own.shape[2]):
        file.GetRasterBand(index + 1).WriteArray(own[:, :, index])
    # Opened anew, as by gdaladdo, overviews have the palette.
    file = None
    file = gdal.Open(out, gdal.GA_Update)
    # Those of an inverted grey are not inverted, and of CMYK it makes none.
    if words[0] != "cmyk" and ("MINISWHITE" not in words[1] or words[0] == "bits1"):
        file.BuildOverviews("NEAREST", [2, 4])
    if own.dtype not in (numpy.uint8, numpy.uint16):
        # Into the file.
        for index in range(own.shape[2]):
            file.GetRasterBand(index + 1).ComputeStatistics(False)


def make_masked(pixels, words, out):
    """masked:COMPRESSION: a cloud-optimised file of GDAL with a mask of what is not transparent."""
    from osgeo import gdal

    gdal.UseExceptions()
    gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
    geotiff(pixels[:, :, :3], out + ".source.tif")
    file = gdal.Open(out + ".source.tif", gdal.GA_Update)
    file.CreateMaskBand(gdal.GMF_PER_DATASET)
    file.GetRasterBand(1).GetMaskBand().WriteArray((pixels[:, :, 3] > 100).astype(pixels.dtype) * 255)
    file = None
    run(
        "gdal_translate", "-q", "-of", "COG", "-co", "COMPRESS=" + words[0], "-co", "BLOCKSIZE=128",
        out + ".source.tif", out,
    )  # fmt: skip


def make_beside(pixels, words, out):
    """beside:COMPRESSION: a tiled file of GDAL whose overviews are in a file beside it."""
    from osgeo import gdal

    gdal.UseExceptions()
    geotiff(pixels[:, :, :3], out + ".source.tif")
    options = ["TILED=YES", "BLOCKXSIZE=128", "BLOCKYSIZE=128", "COMPRESS=" + words[0]]
    if words[0] == "JPEG":
        options.append("PHOTOMETRIC=YCBCR")
    gdal.Translate(out, out + ".source.tif", format="GTiff", creationOptions=options)
    gdal.SetConfigOption("COMPRESS_OVERVIEW", words[0])
    gdal.SetConfigOption("PHOTOMETRIC_OVERVIEW", "YCBCR" if words[0] == "JPEG" else "RGB")
    gdal.Open(out).BuildOverviews("AVERAGE", [2, 4])


def make_rio(pixels, words, out):
    """rio:PROFILE with rio-cogeo."""
    import numpy
    import rasterio
    from rasterio.io import MemoryFile
    from rio_cogeo.cogeo import cog_translate
    from rio_cogeo.profiles import cog_profiles

    colours = pixels[:, :, :3]
    profile = {"driver": "GTiff", "count": 3, "dtype": "uint8", "height": pixels.shape[0], "width": pixels.shape[1]}
    with MemoryFile() as memory:
        with memory.open(**profile) as file:
            file.write(numpy.moveaxis(colours, 2, 0))
        with memory.open() as file:
            options = dict(cog_profiles.get(words[0]), blockxsize=128, blockysize=128)
            cog_translate(file, out, options, overview_level=3, in_memory=True, quiet=True)


def make_ome(pixels, words, out):
    """ome:COMPRESSION:SAMPLES with tifffile: levels in SubIFDs, the third a quarter of the second."""
    import tifffile

    own = samples(pixels, words[1])
    if own.shape[2] == 1:
        own = own[:, :, 0]
    levels = [own, own[::2, ::2], own[::8, ::8]]
    planar = words[2] == "separate"
    if planar:
        levels = [level.transpose(2, 0, 1) for level in levels]
    options = dict(tile=(64, 96), compression=None if words[0] == "none" else words[0])
    if own.ndim == 3:
        options |= dict(photometric="rgb", planarconfig=words[2])
    with tifffile.TiffWriter(out, ome=True, bigtiff=words[3] == "big") as file:
        axes = "YX" if own.ndim == 2 else "SYX" if planar else "YXS"
        file.write(levels[0], subifds=2, metadata={"axes": axes}, **options)
        for level in levels[1:]:
            file.write(level, subfiletype=1, **options)


def make_svs(pixels, words, out):
    """svs:ycbcr or svs:rgb with libtiff's tools, in Aperio's order."""
    import numpy
    import tifffile

    # The picture four times, with sides that the levels divide.
    whole = numpy.tile(pixels[:, :, :3], (2, 2, 1))
    whole = whole[: whole.shape[0] // 16 * 16, : whole.shape[1] // 16 * 16]
    about = "Aperio Image Library v11.2.1\n%dx%d (240x240) JPEG/RGB Q=90|AppMag = 20|MPP = 0.499"
    tiled = ["-t", "-w", "240", "-l", "240"]
    for step, layout in ((1, tiled), (8, ["-s", "-r", "16"]), (4, tiled), (16, tiled)):
        tifffile.imwrite(out + ".source.tif", whole[::step, ::step], photometric="rgb", metadata=None)
        colours = "jpeg:r:90" if words[0] == "rgb" else "jpeg:90"
        run("tiffcp", *(["-a"] if step > 1 else []), "-c", colours, *layout, out + ".source.tif", out)
    run("tiffset", "-d", "0", "-s", "270", about % (whole.shape[1], whole.shape[0]), out)


def make_slide(pixels, words, out):
    """slide:COMPRESSION with tifffile, in Aperio's order."""
    import tifffile

    whole = pixels[:768, :1024, :3]
    about = "Aperio Image Library v11.2.1\n%dx%d (128x128) J2K/YUV16 Q=90|AppMag = 20|MPP = 0.499" % (1024, 768)
    with tifffile.TiffWriter(out) as file:
        for step in (1, 4):
            text = about if step == 1 else None
            file.write(
                whole[::step, ::step], tile=(128, 128), photometric="rgb", compression=words[0], description=text,
                metadata=None,
            )  # fmt: skip


def make(kind, source, width, height, out):
    import numpy

    pixels = numpy.fromfile(source, numpy.uint8).reshape(int(height), int(width), 4)
    word, *words = kind.split(":")
    makers = {
        "cog": make_cog, "gtiff": make_gtiff, "masked": make_masked, "beside": make_beside, "rio": make_rio,
        "ome": make_ome, "svs": make_svs, "slide": make_slide,
    }  # fmt: skip
    makers[word](pixels, words, out)


commands = sys.argv[1:]
if commands[0] == "modules":
    for name in commands[1:]:
        importlib.import_module(name)
    commands = []
while commands:
    end = commands.index("then") if "then" in commands else len(commands)
    {"make": make, "read": read, "translate": translate}[commands[0]](*commands[1:end])
    commands = commands[end + 1 :]
