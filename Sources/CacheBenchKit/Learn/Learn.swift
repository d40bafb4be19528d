import Foundation
import PanTraces
package import TileCache

/// What a replayed session starts with.
package enum ReplayProfile: Hashable, Sendable {
    case file(String)
    case learned(PrefetchProfile)

    /// The profile; reads the file.
    package func resolved() throws(ReplayError) -> PrefetchProfile {
        switch self {
        case .learned(let profile): return profile
        case .file(let path):
            // Of the file itself, not of a link to it.
            let file = URL(filePath: path).resolvingSymlinksInPath().path
            let size = (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int ?? 0
            guard size <= PrefetchProfile.maximumBytes else {
                let most = PrefetchProfile.maximumBytes
                throw ReplayError("--profile \(path): at most \(most) bytes were expected, not \(size)")
            }
            guard let bytes = FileManager.default.contents(atPath: file) else {
                throw ReplayError("--profile \(path): cannot be read; a file of 'cachebench learn' was expected")
            }
            do {
                return try PrefetchProfile(bytes: [UInt8](bytes))
            } catch {
                throw ReplayError("--profile \(path): \(error)")
            }
        }
    }
}

/// Learns a profile from traces, one after the other. Each is replayed with what was learned before it.
package struct Learn: Sendable {
    /// Options of the replays; the policy is the library's.
    package var options: ReplayOptions

    package init(_ options: ReplayOptions) {
        self.options = options
        self.options.prefetch = .tilecache
        self.options.eviction = .tilecache
    }

    /// Replays the traces in order.
    ///
    /// - Parameters:
    ///   - shouldStop: Called at each frame, on any thread.
    ///   - finished: Called after each trace with the number of those done.
    /// - Returns: The profile; `nil` if it was stopped.
    package func profile(
        of paths: [String],
        shouldStop: @escaping @Sendable () -> Bool = { false },
        finished: @Sendable (_ done: Int) -> Void = { _ in }
    ) throws -> PrefetchProfile? {
        var profile = PrefetchProfile()
        let loads = try LoadClock(options)
        for (index, path) in paths.enumerated() {
            var options = options
            options.profile = .learned(profile)
            let learned = Lock<PrefetchProfile?>(nil)
            var hooks = ReplayHooks(shouldStop: shouldStop)
            hooks.noteLearned = { profile in learned.withLock { $0 = profile } }
            let input = try ReplayInput(path: path, options: options)
            let outcome = try input.naming { try Replay(options, loads: loads).outcome(of: input, hooks) }
            if outcome.wasStopped { return nil }
            if let learned = learned.withLock({ $0 }) { profile.merge(learned) }
            finished(index + 1)
        }
        return profile
    }

    /// For each trace, what all other traces of its source have taught.
    ///
    /// - Returns: Profiles by path; `nil` if it was stopped.
    /// - Throws: `ReplayError` if no source has two traces.
    package func leavingOneOut(
        of paths: [String],
        shouldStop: @escaping @Sendable () -> Bool,
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void
    ) throws -> [String: PrefetchProfile]? {
        let sources = ReplayInput.sources(ofPaths: paths)
        let others = paths.indices.map { left in
            // A trace that is named twice is not another one.
            paths.indices.filter { paths[$0] != paths[left] && sources[$0] == sources[left] }.map { paths[$0] }
        }
        let all = others.reduce(0) { $0 + $1.count }
        guard all > 0 else {
            throw ReplayError("--learn leave-one-out learns from other traces of a source: expected at least two")
        }
        let done = Lock(0)
        let profiles = try concurrently(paths.count) { index in
            try profile(of: others[index], shouldStop: shouldStop) { _ in
                let count = done.withLock { done in
                    done += 1
                    return done
                }
                progress(count, all)
            }
        }
        guard profiles.allSatisfy({ $0 != nil }) else { return nil }
        return Dictionary(zip(paths, profiles.compactMap { $0 })) { first, _ in first }
    }
}
