import Foundation
import Testing

/// `scripts/soak replay`: what one process found, another one must see again.
@Suite struct SimulationReplayTests {
    private func replay(_ seed: Int) async throws -> CommandResult {
        try await runToEnd(
            Binary.starwatch.deletingLastPathComponent().appending(path: "starwatch-simulation"),
            ["replay", "--seed", "\(seed)", "--cycles", "80", "--lines", "20"],
            // So that each process has a hash seed of its own, whatever the shell says.
            environment: ["SWIFT_DETERMINISTIC_HASHING": "0"]
        )
    }

    @Test(arguments: [1, 5, 9])
    func aSeedIsTheSameRunInEveryProcess(seed: Int) async throws {
        let first = try await replay(seed)
        let second = try await replay(seed)
        #expect(first.status == 0, "\(first.output)\(first.errors)")
        #expect(first.output == second.output)
        // The end of the trace, with the times, and what it comes to.
        let lines = first.output.split(separator: "\n")
        #expect(lines.count == 21)
        let areTimed = lines.dropLast().allSatisfy { $0.contains(/^\d+ ./) }
        #expect(areTimed, "\(first.output)")
        let summary = try #require(lines.last)
        #expect(summary.contains(/^[1-9]\d* cycles, [1-9]\d* steps, hash [0-9a-f]+$/), "\(summary)")
    }
}
