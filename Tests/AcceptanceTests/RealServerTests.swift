import Foundation
import Testing

/// One agent against a real Endorser server, for its operator to run by hand. It only reads.
///
///     STARWATCH_REAL_SERVER=https://test-api.endorser.ch swift test --filter RealServerTests
///
/// `STARWATCH_REAL_PLANS` names plans, separated by commas. With `STARWATCH_REAL_DID` and `STARWATCH_REAL_KEY_FILE` the
/// requests carry that identity's token, and its offers are polled too.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STARWATCH_REAL_SERVER"] != nil))
struct RealServerTests {
    private let environment = ProcessInfo.processInfo.environment

    @Test func everyPollAnswersAndTheNextOneFindsNothingElse() async throws {
        let workspace = try Workspace()
        let server = try #require(environment["STARWATCH_REAL_SERVER"])
        let plans = environment["STARWATCH_REAL_PLANS"] ?? "https://endorser.ch/entity/01GQBE7Q0RQQAGJMEEW6RSGKTF"
        let did = environment["STARWATCH_REAL_DID"] ?? "did:ethr:0x00000000000000000000000000000000000000aa"
        let key = environment["STARWATCH_REAL_KEY_FILE"]
        var polls = ["starred_projects"]
        if key != nil { polls += ["offers_to_me", "offers_to_my_projects"] }
        let lines = polls.map { name in
            let plans = name == "starred_projects" ? ", plan_ids: [\(plans.replacing(",", with: ", "))]" : ""
            return "  \(name): {kind: \(name), every: 1h\(plans)}"
        }
        try workspace.write(
            """
            server: {url: "\(server)"}
            identity: {did: "\(did)"}
            auth: \(key.map { "{kind: did_key, key_file: \"\($0)\"}" } ?? "{kind: none}")
            storage: {path: "\(workspace.path("starwatch.db"))"}
            polls:
            \(lines.joined(separator: "\n"))
            delivery: {sinks: [{name: log, kind: log}]}
            http: {listen: "127.0.0.1:0"}
            control: {socket: "\(workspace.path("s.sock"))"}
            """,
            to: "agent.yaml"
        )
        for poll in polls {
            for expected in [["bootstrapped"], ["unchanged", "changed"]] {
                let result = try await starwatch("poll", poll, "--config", workspace.path("agent.yaml"))
                #expect(result.status == 0, "\(result.output)\(result.errors)")
                #expect(expected.contains { result.output.contains(": \($0)") }, "\(result.output)")
            }
        }
    }
}
