package import PanTraces
import TileCache

/// Reads files of all kinds in order and hands on finished sessions.
///
/// Memory is bounded, however long a log is: 10,000 clients and 4 million requests are kept at once, 24 bytes each. Those
/// that have been idle for longest are ended beyond. A log may go on in the next file.
package struct Importer {
    /// Sessions that are handed on; the others are counted.
    package static let mostSessions = 1000
    /// Bytes of an address and of a user agent that count: thousands of them are kept.
    private static let mostText = 300

    package private(set) var counts = ImportCounts()
    private let pause: Int64
    private let viewport: PanTraceHeader.Size?
    private let emit: (ImportedSession) throws -> Void
    private var clients: ClientSessions

    /// Creates an importer.
    ///
    /// - Parameters:
    ///   - pause: A client's pause that ends a session, in nanoseconds.
    ///   - viewport: Size of the views in screen pixels, where a file does not say it. Default: `nil`, guessed.
    ///   - emit: Receives each session as soon as it is over.
    package init(
        pause: Int64,
        viewport: PanTraceHeader.Size? = nil,
        emit: @escaping (ImportedSession) throws -> Void
    ) {
        self.pause = pause
        self.viewport = viewport
        self.emit = emit
        clients = ClientSessions(pause: pause, viewport: viewport)
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: A file, or `-` for standard input.
    ///   - reached: Called now and then with the part that has been read; returns whether to go on. Default: always.
    /// - Returns: The kind of the file.
    /// - Throws: ``ImportError`` or `PanTraceError` if the file cannot be read or recognised, or from some line on. What
    ///   was read before counts.
    package mutating func read(
        path: String,
        reached: (Double?) -> Bool = { _ in true }
    ) throws -> ImportKind {
        try read(LineReader(path: path), reached)
    }

    /// Reads a file from memory.
    package mutating func read(bytes: [UInt8], name: String) throws -> ImportKind {
        try read(LineReader(bytes: bytes, name: name)) { _ in true }
    }

    /// Ends the sessions that are still open.
    package mutating func finish() throws {
        try withCounts { importer, counts, emit in try importer.clients.finish(&counts, emit) }
    }

    private mutating func read(_ reader: LineReader, _ reached: (Double?) -> Bool) throws -> ImportKind {
        let kind = try ImportKind.of(name: reader.name, head: reader.head())
        switch kind {
        case .accessLog: try readLog(reader, reached)
        case .har: try readHAR(reader)
        case .gpx, .kml: try readTrack(reader, kind, reached)
        case .table: try readTable(reader, reached)
        }
        return kind
    }

    /// Counts sessions as they are handed on.
    private mutating func withCounts(
        _ body: (inout Importer, inout ImportCounts, SessionSink<ImportedSession>) throws -> Void
    ) throws {
        var changed = counts
        var sessions = (count: counts.sessions, positions: counts.positions, left: 0)
        let emit = emit
        defer {
            (changed.sessions, changed.positions) = (sessions.count, sessions.positions)
            changed.omit(.tooMany, sessions.left)
            counts = changed
        }
        try body(&self, &changed) { session in
            guard sessions.count < Self.mostSessions else {
                sessions.left += 1
                return false
            }
            try emit(session)
            sessions.count += 1
            sessions.positions += session.samples.count
            return true
        }
    }

    // MARK: - Requests

    private mutating func readLog(_ reader: LineReader, _ reached: (Double?) -> Bool) throws {
        // Few names come again and again, and looking for words in one takes longer than all else.
        var robots: [String: Bool] = [:]
        func isRobot(_ agent: String) -> Bool {
            if let known = robots[agent] { return known }
            if robots.count >= 10_000 { robots = [:] }
            let isRobot = AccessLogLine.isRobot(agent)
            robots[agent] = isRobot
            return isRobot
        }
        try withCounts { importer, counts, emit in
            func take(
                _ path: UnsafeRawBufferPointer,
                _ method: String,
                at time: Int64,
                client: String,
                agent: String
            ) throws {
                guard let tile = Self.tile(method, path, &counts) else { return }
                let (client, agent) = (Self.clipped(client), Self.clipped(agent))
                guard !isRobot(agent) else { return counts.omit(.robots) }
                try importer.clients.add(
                    LoggedTile(time: time, zoom: tile.zoom, x: tile.x, y: tile.y),
                    isDouble: tile.isDouble,
                    of: "\(client)\t\(agent)\t\(tile.prefix)",
                    &counts,
                    emit
                )
            }
            var lines = 0
            var fields: NamedFieldsLog?
            while let line = try Self.nextLine(reader, &counts) {
                lines += 1
                if lines & 0xFFFF == 0, !reached(reader.partRead) { return }
                if NamedFieldsLog.isDirective(line) {
                    // Without a field that is needed, what follows is in other columns than before.
                    if NamedFieldsLog.namesFields(line) { fields = NamedFieldsLog(line) }
                    continue
                }
                counts.entries += 1
                if let line = AccessLogLine(line) {
                    try take(line.path, line.method, at: line.time, client: line.client, agent: line.agent)
                } else if let line = fields?.request(line) ?? LogRequest(json: line) {
                    try Array(line.path.utf8).withUnsafeBytes {
                        try take($0, line.method, at: line.time, client: line.client, agent: line.agent)
                    }
                } else {
                    counts.omit(.broken)
                }
            }
        }
    }

    private static func clipped(_ text: String) -> String {
        text.utf8.count <= mostText ? text : String(decoding: text.utf8.prefix(mostText), as: UTF8.self)
    }

    private mutating func readHAR(_ reader: LineReader) throws {
        var bytes: [UInt8] = []
        while let piece = try reader.nextBytes() {
            bytes += piece
            guard bytes.count <= HARDocument.mostBytes else {
                throw ImportError(reader.name, "a HAR file of at most \(HARDocument.mostBytes >> 20) MiB is expected")
            }
        }
        let document = try HARDocument(bytes, name: reader.name)
        try withCounts { importer, counts, emit in
            let requests = document.requests
            counts.entries += document.log.entries.count
            counts.omit(.broken, document.log.entries.count - requests.count)
            for (time, method, url) in requests {
                let tile = Array(url.utf8).withUnsafeBytes { Self.tile(method, $0, &counts) }
                guard let tile else { continue }
                try importer.clients.add(
                    LoggedTile(time: time, zoom: tile.zoom, x: tile.x, y: tile.y),
                    isDouble: tile.isDouble,
                    of: "\(reader.name)\t\(tile.prefix)",
                    &counts,
                    emit
                )
            }
        }
    }

    private static func tile(
        _ method: String,
        _ path: UnsafeRawBufferPointer,
        _ counts: inout ImportCounts
    ) -> TilePath? {
        guard method == "GET", let tile = TilePath(path) else {
            counts.omit(.noTile)
            return nil
        }
        guard tile.isValid else {
            counts.omit(.outside)
            return nil
        }
        return tile
    }

    // MARK: - Positions

    private mutating func readTrack(_ reader: LineReader, _ kind: ImportKind, _ reached: (Double?) -> Bool) throws {
        guard let track = TrackReader() else { throw ImportError(reader.name, "there is no memory") }
        let pause = pause
        let viewport = viewport
        try withCounts { _, counts, emit in
            var sessions = PositionSessions(pause: pause)
            func session(_ samples: [PanTraceSample]) throws -> Bool {
                let isTour = kind == .kml && !track.hasTrack
                var header = GlobeView.header
                header.viewport = viewport ?? header.viewport
                return try emit(
                    ImportedSession(
                        samples,
                        header: header,
                        origin: isTour ? "KML tour" : kind == .kml ? "KML track" : "GPX track",
                        guesses: (viewport == nil ? "size of the view, " : "")
                            + (isTour ? "paths between places" : "scale (zoom 15)")
                    )
                )
            }
            defer {
                counts.omit(.noTime, track.withoutTime)
                counts.omit(.broken, track.broken)
                counts.entries += track.withoutTime + track.broken
            }
            do {
                var hasEnded = false
                while !hasEnded {
                    let piece = try reader.nextBytes() ?? UnsafeRawBufferPointer(start: nil, count: 0)
                    hasEnded = piece.isEmpty
                    // Small pieces: a flight of few bytes has many positions.
                    for start in stride(from: 0, through: max(piece.count - 1, 0), by: 16_384) {
                        let part = UnsafeRawBufferPointer(rebasing: piece[start...].prefix(16_384))
                        for sample in try track.read(part, name: reader.name) {
                            try sessions.add(sample, &counts, session)
                        }
                    }
                    if !reached(reader.partRead) { break }
                }
            } catch {
                for sample in track.take() { try sessions.add(sample, &counts, session) }
                try sessions.finish(&counts, session)
                throw error
            }
            try sessions.finish(&counts, session)
        }
    }

    private mutating func readTable(_ reader: LineReader, _ reached: (Double?) -> Bool) throws {
        let (pause, viewport) = (pause, viewport)
        try withCounts { _, counts, emit in
            var first = try Self.nextLine(reader, &counts)
            while let line = first, !line.contains(where: { $0 > 32 }) { first = try Self.nextLine(reader, &counts) }
            guard let line = first, let columns = TableColumns(String(decoding: line, as: UTF8.self)) else {
                throw ImportError(reader.name, "a line with names of columns is expected first")
            }
            var sessions = PositionSessions(pause: pause)
            var header = columns.header
            header.viewport = viewport ?? header.viewport
            var hasCanvas = false
            func session(_ samples: [PanTraceSample]) throws -> Bool {
                var whole = header
                var guesses = hasCanvas || viewport != nil ? [] : ["size of the view"]
                var samples = samples
                if whole.world == nil {
                    if !hasCanvas, Self.moveToOrigin(&samples, header.viewport) {
                        guesses.append("origin (the least x and y that were seen)")
                    }
                    whole.world = Self.world(samples, header.viewport)
                    guesses.append("size of the world (what was seen)")
                }
                if columns.isScaleGuessed { guesses.append("scale") }
                return try emit(
                    ImportedSession(
                        samples,
                        header: whole,
                        origin: "table of positions",
                        guesses: guesses.isEmpty ? "nothing" : guesses.joined(separator: ", ")
                    )
                )
            }
            var lines = 0
            while let line = try Self.nextLine(reader, &counts) {
                lines += 1
                if lines & 0xFFFF == 0, !reached(reader.partRead) { break }
                guard !line.isEmpty else { continue }
                guard let row = columns.row(line) else {
                    counts.entries += 1
                    counts.omit(.broken)
                    continue
                }
                if let canvas = row.canvas, !hasCanvas { (header.viewport, hasCanvas) = (canvas, true) }
                try sessions.add(row.sample, &counts, session)
            }
            try sessions.finish(&counts, session)
        }
    }

    /// Moves centres below 0, as of coordinates around a middle, into a world that begins where the first view does, at 0;
    /// returns whether it did. A viewer, which states its view's size, has an origin of its own.
    private static func moveToOrigin(_ samples: inout [PanTraceSample], _ viewport: PanTraceHeader.Size?) -> Bool {
        guard samples.contains(where: { $0.center.x < 0 || $0.center.y < 0 }) else { return false }
        let view = viewport ?? GlobeView.usualViewport
        let least = samples.reduce(WorldPoint(x: 0, y: 0)) { least, sample in
            WorldPoint(
                x: min(least.x, sample.center.x - view.width / sample.scale / 2),
                y: min(least.y, sample.center.y - view.height / sample.scale / 2)
            )
        }
        for index in samples.indices {
            samples[index].center.x += min(-least.x, 0x1p40)
            samples[index].center.y += min(-least.y, 0x1p40)
        }
        return true
    }

    /// The smallest power of two that holds all that a session saw.
    private static func world(_ samples: [PanTraceSample], _ viewport: PanTraceHeader.Size?) -> PanTraceHeader.Size {
        let view = viewport ?? GlobeView.usualViewport
        let edge = samples.reduce(1.0) { edge, sample in
            max(
                edge,
                sample.center.x + view.width / sample.scale / 2,
                sample.center.y + view.height / sample.scale / 2
            )
        }
        let side = PortableMath.exp2(PortableMath.log2(min(edge, 0x1p40)).rounded(.up))
        return .init(width: side, height: side)
    }

    /// The next line that is not too long; those that are count as broken.
    private static func nextLine(
        _ reader: LineReader,
        _ counts: inout ImportCounts
    ) throws(PanTraceError) -> UnsafeRawBufferPointer? {
        while true {
            do {
                return try reader.next()
            } catch {
                guard error.kind == .tooLong else { throw error }
                counts.entries += 1
                counts.omit(.broken)
                try reader.skipLine()
            }
        }
    }
}
