import Dispatch
import Foundation
import TileCache

/// A blocking source with faults.
struct StressBlockingSource: BlockingTileSource {
    let layer: StressLayer

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let early = layer.history.version
        let (fault, bits) = layer.begin(tile)
        switch fault {
        case .absent: return .absent
        case .permanent: throw TileFailure.permanent
        case .fail:
            if bits & 1 == 0 { layer.write(tile, version: .max, into: &pixels) }
            throw TileFailure.transient(retryAfter: .nanoseconds(Int64(bits >> 8 % 30_000_000)))
        case .size: try pixels.copyTooLittle(bits)
        case .stall: StressLayer.stall(bits)
        case .block: layer.shared.blocker.wait()
        default: break
        }
        layer.write(tile, version: bits & 2 == 0 ? early : layer.history.version, into: &pixels)
        return .pixels
    }
}

/// A source with encoded bytes, some of them damaged, and a decoder that can hang.
struct StressEncodedSource: BlockingTileSource, TileDecoder {
    let layer: StressLayer

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let early = layer.history.version
        let (fault, bits) = layer.begin(tile)
        let version = bits & 2 == 0 ? early : layer.history.version
        switch fault {
        case .absent: return .absent
        case .permanent: throw TileFailure.permanent
        case .fail: throw TileFailure.transient(retryAfter: .zero)
        case .size:
            let huge = [UInt8](repeating: 1, count: pixels.byteCount * 2)
            for count in [0, pixels.byteCount, huge.count] {
                huge.withUnsafeBytes { _ = pixels.keepEncoded(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
            if bits & 4 == 0 { try pixels.copyTooLittle(bits) }
        case .stall: StressLayer.stall(bits)
        default: break
        }
        var payload = StressPayload(layer: layer.number, tile: tile, version: version, hangs: fault == .block)
            .bytes(padding: Int(bits >> 20 % 900))
        if fault == .damage { StressPayload.damage(&payload, bits >> 30) }
        layer.write(tile, version: version, into: &pixels)
        payload.withUnsafeBytes { _ = pixels.keepEncoded($0) }
        return .pixels
    }

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        guard let payload = StressPayload(encoded) else { throw .transient(retryAfter: .zero) }
        if payload.layer != layer.number || payload.tile != tile {
            layer.shared.findings.note(.request, "\(tile) is to be decoded of the payload of \(payload.tile)")
        }
        if payload.hangs { layer.shared.blocker.wait() }
        layer.write(tile, version: payload.version, into: &pixels)
    }
}

/// Encoded form of a stress tile: its name, a checksum and padding.
struct StressPayload {
    var layer: Int
    var tile: TileCoordinate
    var version: UInt32
    var hangs: Bool

    private static let words = 5
}

extension StressPayload {
    /// Decodes a payload; `nil` if the bytes are damaged.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.words * 8 else { return nil }
        let words = (0..<Self.words).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        guard words[4] == Self.sum(words) else { return nil }
        layer = Int(words[0] >> 8)
        tile = TileCoordinate(level: Int(words[0] & 0xFF), column: Int(words[1]), row: Int(words[2]))
        version = UInt32(truncatingIfNeeded: words[3] >> 1)
        hangs = words[3] & 1 == 1
    }

    private static func sum(_ words: [UInt64]) -> UInt64 { words[..<4].reduce(7) { SplitMix64.mixed($0 ^ $1) } }

    func bytes(padding: Int) -> [UInt8] {
        var words = [
            UInt64(layer) << 8 | UInt64(tile.level), UInt64(tile.column), UInt64(tile.row),
            UInt64(version) << 1 | (hangs ? 1 : 0),
        ]
        words.append(Self.sum(words))
        return words.withUnsafeBytes { Array($0) } + [UInt8](repeating: 0x5A, count: padding)
    }

    /// Flips a bit or truncates, which the checksum detects.
    static func damage(_ bytes: inout [UInt8], _ bits: UInt64) {
        if bits & 1 == 0 {
            bytes.removeLast(bytes.count - Int(bits >> 1 % 39) - 1)
        } else {
            bytes[Int(bits >> 1 % 40)] ^= 1 << (bits >> 8 & 7)
        }
    }
}

/// An asynchronous source that completes sooner, later, twice, on another thread or never.
struct StressAsyncSource: TileSource {
    let layer: StressLayer

    func requestTile(_ request: TileRequest) {
        let early = layer.history.version
        let (fault, bits) = layer.begin(request.tile)
        let queue = layer.shared.queues[Int(bits >> 40 % 3)]
        let answer: @Sendable () -> Void = { [layer] in
            let version = bits & 2 == 0 ? early : layer.history.version
            request.complete { pixels in
                layer.write(request.tile, version: version, into: &pixels)
                return .pixels
            }
        }
        switch fault {
        case .absent: request.completeAbsent()
        case .permanent: request.fail(.permanent)
        case .fail: request.fail(.transient(retryAfter: .nanoseconds(Int64(bits >> 8 % 30_000_000))))
        case .drop: break
        case .block: layer.shared.blocker.keep(request)
        case .stall:
            let wait = bits % 16 == 0 ? 250 + bits >> 8 % 250 : bits >> 8 % 20
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(wait)), execute: answer)
        case .late:
            request.onCancel { queue.async(execute: answer) }
            queue.asyncAfter(deadline: .now() + .milliseconds(80), execute: answer)
        case .twice:
            answer()
            request.complete { [layer] pixels in
                layer.shared.findings.note(.request, "a second answer for \(request.tile) is taken")
                layer.write(request.tile, version: .max, into: &pixels)
                return .pixels
            }
            if bits & 4 == 0 { request.completeAbsent() } else { request.cancel() }
        case .thread: Thread.detachNewThread(answer)
        case .size:
            for bytes in [-1, .min, .max, 1 << 40, 4096] { request.holdsEncoded(.bytes(bytes)) }
            request.complete { pixels in
                try pixels.copyTooLittle(bits)
                return .pixels
            }
        case .damage, nil:
            if bits & 12 == 0, !request.isWanted { return request.cancel() }
            if bits & 1 == 0 { request.holdsEncoded(.bytes(Int(bits >> 8 % 8192))) }
            if bits & 4 == 0 { queue.async(execute: answer) } else { answer() }
        }
    }
}

extension TilePixels {
    /// Copies fewer bytes than a tile has, with any stride.
    fileprivate mutating func copyTooLittle(_ bits: UInt64) throws(TileFailure) {
        let bytes = [UInt8](repeating: 0xEE, count: Int(bits >> 8 % UInt64(byteCount)))
        let strides: [Int?] = [nil, 0, -1, .min, .max, bytesPerRow - 1]
        let stride = strides[Int(bits >> 5 % UInt64(strides.count))]
        let wrong = TileFailure.wrongSize(expected: .bytes(byteCount), delivered: .bytes(bytes.count))
        var failure = wrong
        bytes.withUnsafeBytes { bytes in
            do throws(TileFailure) { try copy(from: bytes, bytesPerRow: stride) } catch { failure = error }
        }
        throw failure
    }
}
