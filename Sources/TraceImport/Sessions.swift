package import PanTraces
import TileCache

/// A finished session: a trace to write.
package struct ImportedSession: Hashable, Sendable {
    package var header: PanTraceHeader
    package var samples: [PanTraceSample]

    /// - Parameters:
    ///   - origin: What kind of file the session comes from.
    ///   - guesses: What of it was not in the file.
    init(_ samples: [PanTraceSample], header: PanTraceHeader, origin: String, guesses: String) {
        self.samples = samples
        self.header = header
        self.header.otherEntries += [.init(key: "imported", value: origin), .init(key: "guessed", value: guesses)]
    }

    /// The trace as text, in pieces.
    ///
    /// - Parameter position: 0 for the first piece; is that of the next one afterwards.
    /// - Returns: The header or some lines; `nil` after the last ones.
    package func text(from position: inout Int) -> String? {
        let includesRotation = samples.contains { $0.rotation != 0 }
        let piece = samples[min(position, samples.count)...].prefix(10_000)
        guard !piece.isEmpty else { return nil }
        let start = position == 0 ? PanTraceFormat.headerText(header, includesRotation: includesRotation) : ""
        position += piece.count
        return piece.reduce(into: start) { $0 += PanTraceFormat.line($1, includesRotation: includesRotation) }
    }
}

/// What an import read, used and left out.
package struct ImportCounts: Hashable, Sendable {
    /// Why something was left out.
    package enum Omission: CaseIterable, Sendable {
        case broken, noTile, outside, robots, backwards, noTime, still, tooMany

        /// The reason as the summary says it.
        package var text: String {
            switch self {
            case .broken: "lines or entries that are broken or of another format"
            case .noTile: "requests of something else than a tile z/x/y"
            case .outside: "tiles outside of their zoom (y/x for x/y is not guessed)"
            case .robots: "requests of robots, by name or above \(ClientSessions.mostInSecond) tiles a second"
            case .backwards: "positions whose time is not later than the one before"
            case .noTime: "points without a time, or with one that is no date with a zone"
            case .still: "sessions without a move"
            case .tooMany: "sessions beyond the first \(Importer.mostSessions)"
            }
        }
    }

    /// Lines of text, entries of a HAR file, points of a track.
    package var entries = 0
    /// Requests of tiles, or positions, that became part of sessions.
    package var used = 0
    /// Requests with a time before that of their client's last one, and taken at that.
    package var reordered = 0
    package var sessions = 0
    package var positions = 0
    package var omissions: [Omission: Int] = [:]

    package init() {}

    mutating func omit(_ omission: Omission, _ count: Int = 1) {
        guard count > 0 else { return }
        omissions[omission, default: 0] += count
    }
}

/// Receives a session that is over; returns whether it is written.
typealias SessionSink<Session> = (Session) throws -> Bool

/// Gathers the requests of each client until a pause ends its session, in bounded memory.
struct ClientSessions {
    /// A client's requests of one set of tiles since its last pause.
    private struct Session {
        var requests: [LoggedTile] = []
        var isDouble: Bool
        var last: Int64
        var second: Int64 = 0
        var inSecond = 0
        var isRobot = false
    }

    /// Clients kept at once. Beyond, the quarter of them that has been idle for longest is ended.
    static let mostClients = 10_000
    /// Requests kept at once, 24 bytes each; beyond, as above.
    static let mostRequests = 4_000_000
    /// Tiles of a second above which a client is no person.
    static let mostInSecond = 1000

    private let pause: Int64
    private let viewport: PanTraceHeader.Size?
    private var sessions: [String: Session] = [:]
    private var requestCount = 0

    init(pause: Int64, viewport: PanTraceHeader.Size? = nil) {
        self.pause = pause
        self.viewport = viewport
    }

    /// Adds a request; ends sessions that it shows to be over.
    mutating func add(
        _ request: LoggedTile,
        isDouble: Bool,
        of client: String,
        _ counts: inout ImportCounts,
        _ emit: SessionSink<ImportedSession>
    ) throws {
        var request = request
        if let session = sessions[client], abs(request.time - session.last) > pause {
            try end(client, &counts, emit)
        }
        let isFull = sessions.count >= Self.mostClients && sessions[client] == nil
        if isFull || requestCount >= Self.mostRequests { try endIdlest(&counts, emit) }
        var session = sessions.removeValue(forKey: client) ?? Session(isDouble: isDouble, last: request.time)
        if request.time < session.last {
            request.time = session.last
            counts.reordered += 1
        }
        session.last = request.time
        let second = request.time / 1_000_000_000
        if second != session.second { (session.second, session.inSecond) = (second, 0) }
        session.inSecond += 1
        if session.inSecond > Self.mostInSecond { session.isRobot = true }
        session.requests.append(request)
        sessions[client] = session
        requestCount += 1
        // One client alone is not idle: its session is cut.
        if session.requests.count >= Self.mostRequests / 4 { try end(client, &counts, emit) }
    }

    /// Ends all sessions.
    mutating func finish(_ counts: inout ImportCounts, _ emit: SessionSink<ImportedSession>) throws {
        for client in sessions.keys.sorted() { try end(client, &counts, emit) }
    }

    private mutating func endIdlest(_ counts: inout ImportCounts, _ emit: SessionSink<ImportedSession>) throws {
        let byTime = sessions.sorted { ($0.value.last, $0.key) < ($1.value.last, $1.key) }
        for (client, _) in byTime.prefix(max(1, sessions.count / 4)) { try end(client, &counts, emit) }
    }

    private mutating func end(
        _ client: String,
        _ counts: inout ImportCounts,
        _ emit: SessionSink<ImportedSession>
    ) throws {
        guard let session = sessions.removeValue(forKey: client) else { return }
        requestCount -= session.requests.count
        guard !session.isRobot else { return counts.omit(.robots, session.requests.count) }
        let tileSize = session.isDouble ? 512 : 256
        let (samples, viewport, wrapsX) = RequestPositions.trace(
            of: session.requests,
            tileSize: tileSize,
            viewport: self.viewport
        )
        guard samples.count > 1 else { return counts.omit(.still) }
        let finest = session.requests.map(\.zoom).max() ?? 0
        let side = PortableMath.exp2(Double(finest)) * Double(tileSize)
        let isWritten = try emit(
            ImportedSession(
                samples,
                header: PanTraceHeader(
                    viewport: viewport,
                    world: .init(width: side, height: side),
                    wrapsX: wrapsX,
                    tileSize: tileSize
                ),
                origin: "requests of tiles",
                guesses: "positions (smallest moves that explain the requests), "
                    + (self.viewport == nil ? "size of the view, " : "")
                    + "scale (tiles at 1:1), times of moves, ways through what the browser's own cache had"
            )
        )
        if isWritten { counts.used += session.requests.count }
    }
}

/// Gathers positions of a file until a pause ends a session.
struct PositionSessions {
    /// Positions of a session, 40 bytes each; the next one begins another session.
    static let mostPositions = 1_000_000

    private let pause: Int64
    private var samples: [PanTraceSample] = []
    private var start: Int64 = 0

    init(pause: Int64) { self.pause = pause }

    /// Adds a position.
    ///
    /// - Parameters:
    ///   - sample: With a time on any clock.
    ///   - emit: Receives the samples of a session that is over.
    mutating func add(
        _ sample: PanTraceSample,
        _ counts: inout ImportCounts,
        _ emit: SessionSink<[PanTraceSample]>
    ) throws {
        counts.entries += 1
        guard sample.center.x.isFinite, sample.center.y.isFinite, sample.rotation.isFinite, sample.scale.isFinite,
            sample.scale > 0
        else { return counts.omit(.broken) }
        if let last = samples.last {
            let gap = sample.time - start - last.time
            guard gap > 0 || gap < -pause else { return counts.omit(.backwards) }
            if abs(gap) > pause || samples.count >= Self.mostPositions { try finish(&counts, emit) }
        }
        if samples.isEmpty { start = sample.time }
        var sample = sample
        sample.time -= start
        samples.append(sample)
    }

    mutating func finish(_ counts: inout ImportCounts, _ emit: SessionSink<[PanTraceSample]>) throws {
        defer { samples = [] }
        guard samples.contains(where: { $0.center != samples[0].center || $0.scale != samples[0].scale }) else {
            if !samples.isEmpty { counts.omit(.still) }
            return
        }
        if try emit(samples) { counts.used += samples.count }
    }
}
