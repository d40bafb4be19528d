import ArgumentParser
import CacheBenchKit

/// Conditions on a report, for use in CI; the same for every command that replays.
struct CheckArguments: ParsableArguments {
    @Option(
        name: .customLong("check"),
        help: ArgumentHelp(
            """
            A condition on a field of the JSON report: 'demands.hitRate>=0.95', 'memory.peakBytes<=64MiB', \
            'traces.coverage.blank<1%' for each trace. May be repeated. Exit code 1 if one fails.
            """,
            valueName: "condition"
        )
    )
    var conditions: [String] = []

    @Option(
        "An earlier JSON report to compare with. Exit code 1 if a field is worse by more than --tolerance.",
        .text,
        as: "file"
    )
    var baseline: String?

    @Option(
        "Accepted change of a field for the worse, as a part of its earlier value: 1%, 0.01. (default: 0)",
        .part,
        as: "part"
    )
    var tolerance: Double?

    /// Checks the arguments before a long run, against an empty report.
    func validate(against report: JSONTree?) throws {
        do {
            for check in try conditions.map({ try FieldCheck($0) }) {
                if let report { try check.validate(against: report) }
            }
        } catch let error as ReplayError {
            throw ValidationError(error.description)
        }
        if baseline == nil, tolerance != nil {
            throw ValidationError("--tolerance says how much worse than --baseline is well, and there is none")
        }
    }

    /// Files that a command reads for its checks.
    var files: [String] { [baseline].compactMap { $0 } }

    /// Reads the earlier report before a long run. Its kind must be that of an empty report.
    func readBaseline(against report: JSONTree?) throws -> Baseline? {
        let earlier = try baseline.map { try Baseline(path: $0, tolerance: tolerance ?? 0) }
        if let report { try earlier?.validate(against: report) }
        return earlier
    }

    /// Reports failed checks and changes on standard error; exit code 1 if a check failed.
    func check(_ report: JSONTree, baseline: Baseline?) throws {
        let failures = try conditions.flatMap { try FieldCheck($0).failures(in: report) }
        for line in failures { writeToStandardError(line + "\n") }
        let outcome = try baseline?.compare(report)
        for line in outcome?.lines ?? [] { writeToStandardError(line + "\n") }
        if !failures.isEmpty || outcome?.worse.isEmpty == false { throw ExitCode(1) }
    }
}
