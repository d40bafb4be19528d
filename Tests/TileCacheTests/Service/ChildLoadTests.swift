import Dispatch
import Testing

@testable import TileCache

/// Loads of an asynchronous source's tile for a coarser one that is made from it.
@Suite(.timeLimit(.minutes(45))) struct ChildLoadTests {
    private func layer(_ source: any TileSource) throws -> LayerRecord {
        let pyramid = try ServiceSetup.pyramid()
        return LayerRecord(
            id: LayerID(0),
            source: .asynchronous(source),
            pyramid: pyramid,
            options: LayerOptions(),
            byteCount: 0,
            sizes: LayerRecord.sizes(of: pyramid, .rgba8)
        )
    }

    /// An executor that opens a gate once its waiter has polled three times without success.
    private func opening(_ gate: DispatchSemaphore) -> Executor {
        let looks = Lock(0)
        return Executor(wait: { semaphore, _ in
            let look = looks.withLock { looks -> Int in
                looks += 1
                return looks
            }
            if look <= 3 { return .timedOut }
            if look == 4 { gate.signal() }
            semaphore.wait()
            return .success
        })
    }

    /// An answer while another thread holds the request is accepted. No waiter misses it.
    @Test func anAnswerDuringAHoldCounts() throws {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16_384, alignment: 64)
        defer { memory.deallocate() }
        let load = ChildLoad(layer: try layer(QueuedSource()), level: 6, address: UInt(bitPattern: memory))
        let inside = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let held = Lock<Bool?>(nil)
        DispatchQueue.global().async {
            let isHeld = load.hold {
                inside.signal()
                gate.wait()
                return true
            }
            held.withLock { $0 = isHeld }
        }
        inside.wait()
        let isWritten = load.write { pixels in
            fill(&pixels, with: 7)
            return .pixels
        }
        #expect(isWritten)
        // The result waits for the hold; a hold after the answer is ignored.
        #expect(!load.hold { true })
        #expect(load.wait(on: opening(gate)) { false } == .pixels)
        #expect(eventually { held.withLock { $0 } == true })
    }

    /// A waiter is notified of the answer and of the end of a hold. It does not poll again.
    @Test func theEndOfAHoldIsToldToo() throws {
        let load = ChildLoad(layer: try layer(QueuedSource()), level: 6, address: 0)
        #expect(
            load.hold {
                load.finish(.absent)
                return true
            }
        )
        let signals = Lock(0)
        let executor = Executor(wait: { semaphore, _ in
            while semaphore.wait(timeout: .now()) == .success { signals.withLock { $0 += 1 } }
            return .success
        })
        #expect(load.wait(on: executor) { true } == .absent)
        #expect(signals.withLock { $0 } == 2)
    }

    @Test func itDoesNotKeepItsSource() throws {
        var source: QueuedSource? = QueuedSource()
        weak let kept = source
        let load = ChildLoad(layer: try layer(try #require(source)), level: 6, address: 0)
        source = nil
        #expect(kept == nil)
        load.finish(.absent)
    }

    @Test func whatIsGivenUpDuringAHoldIsGivenUpAfterIt() throws {
        let load = ChildLoad(layer: try layer(QueuedSource()), level: 6, address: 0)
        let inside = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let isOver = Lock(false)
        DispatchQueue.global().async {
            _ = load.hold {
                inside.signal()
                gate.wait()
                isOver.withLock { $0 = true }
                return true
            }
        }
        inside.wait()
        #expect(load.wait(on: opening(gate)) { false } == .cancelled)
        #expect(isOver.withLock { $0 })
        #expect(!load.write { _ in .pixels })
    }
}
