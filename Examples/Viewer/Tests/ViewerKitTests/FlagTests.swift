import Testing

@testable import ViewerKit

/// Flags that would have no effect beside others.
@Suite struct FlagTests {
    @Test(arguments: [
        ["--software", "--compare"], ["--software", "--texture-slots"], ["--software", "--upload-budget"],
        ["--software", "--ui-scale"], ["--software", "--check-gl"], ["--compare", "--disk"],
        ["--compare", "--overlay"], ["--play", "--script"], ["--check-gl", "--compare"],
        ["--check-gl", "--memory-limit"],
        ["--check-gl", "--workers"], ["--check-gl", "--size"], ["--check-gl", "--disk"], ["--check-gl", "--record"],
        ["--check-gl", "--record-picture"], ["--check-gl", "--script"], ["--check-gl", "--screenshot"],
        ["--check-gl", "--overlay"], ["--check-gl", "--ui-scale"], ["--play", "--size"], ["--after"],
    ]) func idleFlagsAreNamed(flags: [String]) throws {
        let problem = try #require(FlagRules.problem(Set(flags), isBuiltIn: true))
        for flag in flags { #expect(problem.contains(flag), "\(problem)") }
        #expect(problem.contains("was expected"))
        // Each alone is allowed, except the last.
        if flags.count > 1 {
            for flag in flags { #expect(FlagRules.problem([flag], isBuiltIn: true) == nil) }
        }
    }

    @Test(arguments: [
        [], ["--compare", "--play", "--size", "--record-picture"], ["--compare", "--record"],
        ["--record-picture"], ["--play", "--record", "--record-picture", "--disk", "--overlay"],
        ["--check-gl", "--play", "--texture-slots", "--upload-budget", "--load-latency"], ["--screenshot", "--after"],
        ["--software", "--script", "--record", "--screenshot", "--overlay", "--size", "--load-latency"],
    ]) func theRestIsAllowed(flags: [String]) {
        #expect(FlagRules.problem(Set(flags), isBuiltIn: true) == nil)
    }

    @Test func onlyTheBuiltInWorldIsSlowed() {
        #expect(FlagRules.problem(["--load-latency"], isBuiltIn: false)?.contains("--load-latency") == true)
        #expect(FlagRules.problem(["--record"], isBuiltIn: false) == nil)
    }
}
