import Foundation
import PanTraces
import Synchronization
import TileCache
import ViewerKit

/// Records a pan trace into a file.
final class Recording {
    let recorder: PanTraceRecorder
    private let path: String
    private let output: Output

    private final class Output: Sendable {
        let handle: FileHandle
        let failure = Mutex<String?>(nil)

        init(_ handle: FileHandle) { self.handle = handle }

        func write(_ text: String) {
            do {
                try handle.write(contentsOf: Data(text.utf8))
            } catch {
                failure.withLock { $0 = $0 ?? "\(error.localizedDescription)" }
            }
        }
    }

    init(path: String, world: OpenWorld) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw ViewerError("--record \(path): a file that can be written was expected") }
        self.path = path
        let output = Output(handle)
        self.output = output
        recorder = PanTraceRecorder(header: world.traceHeader) { output.write($0) }
    }

    /// Closes the file and reports an error, if there was one.
    func finish() throws {
        try? output.handle.close()
        if let failure = output.failure.withLock({ $0 }) {
            throw ViewerError("--record \(path): not all of the trace could be written: \(failure)")
        }
        let counts = recorder.counts
        print("recorded  \(counts.recorded) samples in \(path)")
        if counts.resized > 0 {
            print("          \(counts.resized) of them in a window of another size than in the trace's header")
        }
    }
}
