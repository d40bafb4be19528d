import AnimatedWebP
import Dispatch
import Foundation
import Synchronization
import ViewerKit

/// Records the window as an animated picture, ten pictures a second.
///
/// A queue encodes while the session goes on. If it is slower than the drawing, ``add(_:at:)`` waits: at most ``backlog``
/// pictures are in memory. The encoded file is, too, until the end.
final class PictureRecording: Sendable {
    private static let backlog = 30

    private struct State: ~Copyable {
        var writer: AnimatedWebP?
        var size = (width: 0, height: 0)
        var failure: String?
        var count = 0
    }

    private let path: String
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "tileviewer.picture", qos: .utility)
    private let free = DispatchSemaphore(value: backlog)

    init(path: String) throws {
        self.path = path
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw ViewerError("--record-picture \(path): a file that can be written was expected")
        }
    }

    /// Adds a picture of the size of the first; those of other sizes are left out.
    func add(_ picture: (width: Int, height: Int, rgba: [UInt8]), at milliseconds: Int) {
        free.wait()
        queue.async { [self] in
            defer { free.signal() }
            state.withLock { state in
                guard state.failure == nil else { return }
                do {
                    if state.writer == nil {
                        state.writer = try AnimatedWebP(width: picture.width, height: picture.height)
                        state.size = (picture.width, picture.height)
                    }
                    guard state.size == (picture.width, picture.height) else { return }
                    try state.writer?.add(rgba: picture.rgba, at: milliseconds)
                    state.count += 1
                } catch {
                    state.failure = "\(error)"
                }
            }
        }
    }

    /// Writes the file.
    func finish(at milliseconds: Int) throws {
        let (bytes, count) = try queue.sync {
            try state.withLock { state in
                if let failure = state.failure { throw ViewerError("--record-picture \(path): \(failure)") }
                guard let writer = state.writer else { return ([UInt8](), 0) }
                return (try writer.finish(at: milliseconds), state.count)
            }
        }
        guard (try? Data(bytes).write(to: URL(fileURLWithPath: path))) != nil else {
            throw ViewerError("--record-picture \(path): a file that can be written was expected")
        }
        print("picture   \(count) frames, \(bytes.count) bytes in \(path)")
    }
}
