/// Which tiled pictures of a TIFF file are levels of the first one.
///
/// A level has the samples and the ratio of the sides of the picture, and belongs to it: as one of its `SubIFDs`, as a
/// smaller version (`NewSubfileType` 1) that follows it, or as the same numbered page. Where a file marks nothing so,
/// levels are recognized by their sizes: in files of scanners that mark none, or if there are several of them.
struct TIFFPages {
    struct Level {
        let page: TIFFPage
        let scale: Double
        /// Whether the stated size is that of the tiles, which the last ones fill up.
        let isFilled: Bool
    }

    private(set) var main: TIFFPage
    /// Whether the first directory was a smaller version of the main picture.
    private(set) var isMainLater = false
    /// From fine to coarse, without the picture itself.
    private(set) var levels: [Level] = []
    /// Sentences about what was left out.
    private var leftOut: [String] = []
    private var others: [TIFFPage]
    /// Places in `others` of smaller versions of another picture.
    private var versionsOfOthers: Set<Int> = []
    private var isPhilips = false

    /// Of an overview. What is nearly as large as the first image is a plane or page besides it.
    private static let leastScale = 1.1
    private static let other = "it is another picture or belongs to one"
    private static let unmarked = "it is not marked as a smaller version (NewSubfileType 1)"

    /// Reads all directories of a file with a tiled picture, and chooses.
    init(_ file: inout TIFFFile, _ first: TIFFPage) throws(TileSourceError) {
        main = first
        others = try Self.children(of: first, &file)
        var offset = first.directory.next
        while let directory = try file.next(offset) {
            let page = try TIFFPage(directory, &file.bytes)
            // What follows another picture is that one's.
            if file.isFurther, let page, !page.isMask, !page.isReduced, !page.isSamePage(as: first) { break }
            if let page { others.append(page) }
            offset = directory.next
        }
        if first.isReduced, !file.isFurther, !file.isPage,
            let place = Self.placeOfImage(among: others, reducedTo: first)
        {
            swap(&main, &others[place])
            isMainLater = true
            others += try Self.children(of: main, &file)
        }
        guard !others.isEmpty else { return }
        let software = try main.directory.text(.software, &file.bytes)
        isPhilips = software?.hasPrefix("Philips") == true
        let isMarked = others.contains { !$0.isMask && ($0.isReduced || $0.isChild || $0.isSamePage(as: main)) }
        let text = try main.directory.text(.imageDescription, &file.bytes) ?? ""
        // Of scanners whose levels have no mark.
        let isScan = isPhilips || text.hasPrefix("Aperio")
        // Such writers begin a new picture with each page that they do not mark.
        let marksAll = text.contains("<OME") || text.hasPrefix("{\"shape\"") || text.hasPrefix("ImageJ=")
        assignVersions()
        try choose(takesUnmarked: isScan || !isMarked && !marksAll, try main.samples(&file.bytes), &file.bytes)
        if !isScan, !isMarked, levels.count == 1 {
            // The size of one page may be a fraction by chance.
            leave(levels[0].page, Self.unmarked)
            levels = []
        }
    }

    /// Takes the levels of a picture from a file of overviews beside it, all of whose pages are.
    init(_ file: inout TIFFFile, beside main: TIFFPage, _ samples: TIFFPage.Samples) throws(TileSourceError) {
        self.main = main
        others = []
        var directory: TIFFDirectory? = file.main
        while let found = directory {
            if let page = try TIFFPage(found, &file.bytes) { others.append(page) }
            directory = try file.next(found.next)
        }
        try choose(takesUnmarked: true, samples, &file.bytes)
    }

    /// The mask of a picture: the first of its size that follows it.
    func mask(of page: TIFFPage) -> TIFFPage? {
        others.first { $0.isMask && ($0.width, $0.height) == (page.width, page.height) }
    }

    /// The sentences, of which the first are given.
    var warning: String? {
        var parts = Array(leftOut.prefix(3))
        if leftOut.count > 3 { parts.append("and \(leftOut.count - 3) more pages") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static func children(
        of page: TIFFPage,
        _ file: inout TIFFFile
    ) throws(TileSourceError) -> [TIFFPage] {
        var found: [TIFFPage] = []
        let offsets = try page.directory.numbers(.subIFDs, atMost: TIFFFile.mostDirectories, &file.bytes) ?? []
        for offset in offsets {
            guard let directory = try file.next(offset) else { continue }
            if let page = try TIFFPage(directory, isChild: true, &file.bytes) { found.append(page) }
        }
        return found
    }

    /// Place of the largest image if the first directory is an overview of it: half as large, or less.
    private static func placeOfImage(among others: [TIFFPage], reducedTo first: TIFFPage) -> Int? {
        var (found, largest): (Int?, Double) = (nil, 1.9)
        for (place, page) in others.enumerated() where !page.isMask && !page.isOtherPage(than: first) {
            let world = (width: page.width, height: page.height)
            guard let scale = Overviews.quotient(first.width, first.height, of: world, within: 2), scale > largest
            else { continue }
            (found, largest) = (place, scale)
        }
        return found
    }

    /// Finds the smaller versions in the chain that follow another picture and so are its own.
    ///
    /// If none follows the main picture directly they are all its own: GDAL adds them at the end of a chain of pages.
    private mutating func assignVersions() {
        var (isOwn, hasOwn, following) = (true, others.contains { $0.isChild }, Set<Int>())
        for (place, page) in others.enumerated() where !page.isChild && !page.isMask {
            if page.isReduced {
                if isOwn { hasOwn = true } else { following.insert(place) }
            } else {
                isOwn = false
            }
        }
        if hasOwn { versionsOfOthers = following }
    }

    /// Takes levels from fine to coarse; leaves out the rest with its reason.
    private mutating func choose(
        takesUnmarked: Bool,
        _ own: TIFFPage.Samples,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) {
        let world = (width: main.width, height: main.height)
        var overviews = Overviews(of: world, within: 2)
        // Pages of one size in the order of the file.
        let order = others.indices.sorted {
            let (one, two) = (others[$0], others[$1])
            return (one.width, one.height, $1) > (two.width, two.height, $0)
        }
        for place in order where !others[place].isMask {
            let page = others[place]
            let isMarked = page.isChild || page.isReduced || page.isSamePage(as: main)
            if page.isOtherPage(than: main) || versionsOfOthers.contains(place) {
                leave(page, Self.other)
                continue
            }
            let filled = isPhilips ? try filledScale(page, &bytes) : nil
            guard
                filled != nil
                    || !levels.contains(where: { $0.page.width == page.width && $0.page.height == page.height }),
                let quotient = filled ?? Overviews.quotient(page.width, page.height, of: world, within: 2),
                quotient >= Self.leastScale
            else {
                leave(page, Self.other)
                continue
            }
            guard isMarked || takesUnmarked else {
                leave(page, Self.unmarked)
                continue
            }
            let samples = try page.samples(&bytes)
            guard samples == own else {
                let kinds = "\(samples.summary), not \(own.summary)"
                leave(page, "it has \(samples.summary == own.summary ? "other colours" : kinds)")
                continue
            }
            let tile = try TIFFLevel.tileSize(page.directory, &bytes)
            guard TIFFLevel.tileSides.contains(tile.width), TIFFLevel.tileSides.contains(tile.height) else {
                leftOut.append(
                    "its overview of \(page.width) x \(page.height) pixels is left out: tiles of 16 to 4096 pixels a "
                        + "side were expected, not \(tile.width) x \(tile.height)"
                )
                continue
            }
            let scale = filled ?? overviews.take(width: page.width, height: page.height) ?? quotient
            levels.append(Level(page: page, scale: scale, isFilled: filled != nil))
        }
    }

    private mutating func leave(_ page: TIFFPage, _ reason: String) {
        leftOut.append("its page of \(page.width) x \(page.height) pixels is left out: \(reason)")
    }

    /// Scale of an overview of Philips's scanners, whose size is that of its tiles: the last ones are filled up.
    ///
    /// Each level halves the one before, which tells the scale of those that fit in one tile.
    private func filledScale(_ page: TIFFPage, _ bytes: inout TIFFBytes) throws(TileSourceError) -> Double? {
        let tile = try TIFFLevel.tileSize(page.directory, &bytes)
        func isFilled(_ side: Int, _ tile: Int, _ whole: Int, _ scale: Int) -> Bool {
            side == ((whole - 1) / scale / tile + 1) * tile
        }
        return (1...20).map { 1 << $0 }.first { scale in
            isFilled(page.width, tile.width, main.width, scale)
                && isFilled(page.height, tile.height, main.height, scale)
                && !levels.contains { $0.scale == Double(scale) }
        }.map { Double($0) }
    }
}
