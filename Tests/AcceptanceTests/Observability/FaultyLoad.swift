import Foundation
import MockEndorser
import ProgramTestKit

/// A server and a receiver that do wrong in every way, round after round, and the built agent that lives with them.
actor FaultyLoad {
    /// The secp256k1 key 1, and who it is.
    private static let key = String(repeating: "0", count: 63) + "1"
    private static let did = "did:ethr:0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"

    nonisolated let mock: MockServer
    nonisolated let agent: RunningAgent
    private let workspace: Workspace
    private let started = ContinuousClock.now
    private var round = 0
    private var refusal = 0
    private var hasReloaded = false
    private var unseen = Set(evidence)

    init() async throws {
        var options = MockServerOptions()
        options.generator.ownerDID = Self.did
        options.planCount = 60
        options.requestsPerMinute = nil
        mock = MockServer(options: options)
        try await mock.start()
        mock.clockSkew = .seconds(2)
        workspace = try Workspace()
        try workspace.write(Self.key + "\n", to: "key")
        let yaml = Self.yaml(server: mock, port: try FreePort.take(), in: workspace)
        try workspace.write(yaml, to: "starwatch.yaml")
        agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
    }

    private static func yaml(server: MockServer, port: Int, in workspace: Workspace) -> String {
        """
        server: {url: "\(server.url)", dialect: canonical, timeout: 2s, max_response: 64KiB}
        identity: {did: "\(did)"}
        auth: {kind: did_key, key_file: key, lifetime: 4s, refresh_before: 1s}
        storage: {path: \(workspace.path("starwatch.db"))}
        polls:
          starred_projects:
            kind: starred_projects
            every: 1s
            bootstrap: beginning
            plan_ids: [\(server.planIDs.map { "\"\($0)\"" }.joined(separator: ", "))]
          offers: {kind: offers_to_me, every: 1s, bootstrap: beginning}
        outbox: {max_retries: 2}
        limits: {requests_per_minute: 10000}
        clock: {check_interval: 1s}
        delivery:
          group_interval: 1s
          sinks:
            - {name: hook, kind: webhook, url: "\(server.url)/hook", timeout: 2s}
        digests:
          daily: {poll: starred_projects, times: ["08:00"]}
        callbacks: {heartbeat: {url: "\(server.url)/hook"}}
        http: {listen: "127.0.0.1:\(port)"}
        control: {socket: \(workspace.path("s.sock"))}
        log: {level: debug}

        """
    }

    // MARK: What goes wrong

    /// Faults of the server's changes, a cycle or a try of one each, and the result that shows that one was met.
    /// libcurl itself tries once more after a reset.
    private static let faults: [(script: [MockFault], result: String?)] = [
        ([.status(500)], "server_error"), ([.schemaViolation(.missingJWTID)], nil),
        ([.authenticationFailure], "unauthenticated"), ([.resetBeforeHead, .resetBeforeHead], "reset"),
        ([.neverAnswer, .neverAnswer, .neverAnswer], "timeout"), ([.malformedJSON], nil),
        ([.status(404)], "not_found"), ([.redirect(to: "/elsewhere")], nil),
        ([.oversizedBody(bytes: 1 << 20)], "too_large"), ([.status(403)], "forbidden"),
        ([.schemaViolation(.stuckPage)], nil), ([.status(400)], nil),
    ]

    private static func changesRequest(_ result: String) -> String {
        "starwatch_api_requests_total{endpoint=\"plans_changed\",result=\"\(result)\"}"
    }

    /// The fault of this round. After each has had its turn, only what was not seen is tried again: a count may have
    /// been reset before it was read, and a whole turn takes the agent minutes of backing off.
    private func nextFault() -> [MockFault] {
        let missed = Self.faults.filter { $0.result.map { unseen.contains(Self.changesRequest($0)) } ?? false }
        let faults = round < Self.faults.count || missed.isEmpty ? Self.faults : missed
        return faults[round % faults.count].script
    }

    /// Answers of the receiver: two refusals make a dead letter, and newer notifications come between the two.
    private static let refusals: [[MockFault]] = [
        Array(repeating: .status(400), count: 4), [.status(503)], [.neverAnswer], [],
    ]

    private static let refusedAcknowledgement =
        "starwatch_api_requests_total{endpoint=\"acknowledge\",result=\"server_error\"}"

    /// Metrics that must be above zero before the load is complete.
    private static let evidence: [String] =
        [
            "ok", "server_error", "unauthenticated", "timeout", "not_found", "reset", "too_large", "forbidden",
        ].map(changesRequest)
        + ["ok", "rejected", "unavailable", "timeout"].map {
            "starwatch_delivery_attempts_total{sink=\"hook\",result=\"\($0)\"}"
        }
        + [
            "starwatch_contract_violations_total{poll=\"starred_projects\",kind=\"schema\"}",
            refusedAcknowledgement,
            "starwatch_acknowledgements_total{result=\"ok\"}", "starwatch_outbox_rows{state=\"dead\"}",
            "starwatch_api_requests_total{endpoint=\"offers_to_me\",result=\"rate_limited\"}",
            "starwatch_throttle_wait_seconds_count{source=\"server\"}",
            "starwatch_retries_exhausted_total{endpoint=\"plans_changed\",reason=\"timeout\"}",
            "starwatch_control_requests_total{operation=\"read\",result=\"failed\"}",
            "starwatch_clock_skew_seconds", "starwatch_token_refreshes_total{result=\"ok\"}",
        ]

    // MARK: The load

    /// Goes on with the load where the last call left it, and never waits for the agent.
    ///
    /// - Returns: What has not been seen yet on the page of metrics.
    func stir() async throws -> Set<String> {
        if mock.remainingFaults(at: .plansChanged) == 0 {
            for fault in nextFault() { mock.script(fault, at: .plansChanged) }
            // Faults left from the last round apply to the next changes.
            if mock.remainingFaults(at: .hook) == 0 {
                for fault in Self.refusals[refusal % Self.refusals.count] { mock.script(fault, at: .hook) }
                refusal += 1
            }
            // A hold that the second try of the failed request runs into.
            if round % 4 == 0 { mock.script(.status(429, headers: ["Retry-After": "3"]), at: .offersToMe) }
            // Until it was seen: what was not acknowledged is not tried again for seconds.
            if unseen.contains(Self.refusedAcknowledgement), mock.remainingFaults(at: .acknowledge) == 0 {
                mock.script(.status(500), at: .acknowledge)
            }
            mock.publish(count: 3)
            mock.publishOffers(count: 1, to: Self.did)
            round += 1
        }
        try await reloadOnce()
        for accept in ["image/png", "application/openmetrics-text; version=9.9", "text/plain;;q=high"] {
            _ = try? await HTTP.get("http://\(agent.address)/metrics", headers: ["Accept": accept])
        }
        // After the reload all counts begin again at zero, so what was seen stays seen. While it reloads, nobody answers.
        guard let page = try? await agent.pages.get("/metrics", headers: ["Accept": "text/plain"]) else {
            return unseen
        }
        if unseen.contains(where: { $0.contains("control_requests") }) {
            _ = try await starwatch("outbox", "show", "999999", "--config", workspace.path("starwatch.yaml"))
        }
        // An operator acts again and again: the first count has none before it, so nothing has increased.
        _ = try await starwatch("outbox", "discard", "999999", "--config", workspace.path("starwatch.yaml"))
        for line in page.split(separator: "\n") where !line.hasSuffix(" 0") {
            guard let end = line.lastIndex(of: " ") else { continue }
            unseen.remove(String(line[..<end]))
        }
        return unseen
    }

    /// A configuration that is refused, and then one that is not: only after five seconds, for what is read again
    /// sooner counts as part of the start.
    private func reloadOnce() async throws {
        guard !hasReloaded, started.duration(to: .now) > .seconds(6) else { return }
        hasReloaded = true
        let right = try String(contentsOf: workspace.url.appending(path: "starwatch.yaml"), encoding: .utf8)
        try workspace.write(right.replacing("every: 1s", with: "every: soon"), to: "starwatch.yaml")
        try await reload(expecting: 0)
        try workspace.write(right, to: "starwatch.yaml")
        try await reload(expecting: 1)
    }

    private func reload(expecting value: Double) async throws {
        agent.hangUp()
        let pages = agent.pages
        let seen = await eventually {
            (try? await pages.metric("starwatch_config_last_reload_successful")) == value ? true : nil
        }
        guard seen == true else { throw AcceptanceError("the reload did not end as \(value)") }
    }

    /// Stops everything.
    func stop() async throws {
        await agent.stop()
        try await mock.stop()
    }
}
