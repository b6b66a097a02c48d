import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct ContractTests {
    /// A way to break a page, and the kind it counts as; `nil` where a lenient reader can use the page all the same.
    struct Breach: Sendable, CustomTestStringConvertible {
        let dialect: MockDialect
        let fault: MockFault
        let kind: ContractViolation?
        var testDescription: String { "\(dialect) \(fault)" }
    }

    static let breaches: [Breach] = MockDialect.allCases.flatMap { dialect in
        [
            Breach(dialect: dialect, fault: .malformedJSON, kind: .schema),
            Breach(dialect: dialect, fault: .status(200, body: "[]"), kind: .schema),
            Breach(dialect: dialect, fault: .status(200, body: "null"), kind: .schema),
            Breach(dialect: dialect, fault: .schemaViolation(.missingJWTID), kind: .schema),
            Breach(dialect: dialect, fault: .schemaViolation(.nullHandleID), kind: .schema),
            Breach(dialect: dialect, fault: .schemaViolation(.wrongType), kind: .schema),
            Breach(dialect: dialect, fault: .schemaViolation(.dataNotArray), kind: .schema),
            Breach(dialect: dialect, fault: .schemaViolation(.foreignID), kind: .idKind),
        ]
    }

    @Test(arguments: breaches)
    func aPageThatBreaksTheContractChangesNothing(breach: Breach) async throws {
        try await World.with(breach.dialect) { world in
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            let ids = world.mock.publish(count: 3)
            let before = try await agent.state(of: world.did)
            world.mock.script(breach.fault, at: .plansChanged)
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "failed")
            #expect(report.new == 0)
            let after = try await agent.state(of: world.did)
            #expect(after.fetchCursor == before.fetchCursor)
            #expect(after.walk == before.walk)
            #expect(after.watermark == before.watermark)
            #expect(after.lastSuccess == before.lastSuccess)
            #expect(try await agent.rows(Set(OutboxState.allCases)).isEmpty)
            // One try: the same question would bring the same answer.
            #expect(world.mock.remainingFaults(at: .plansChanged) == 0)
            let page = await agent.page()
            for kind in ContractViolation.allCases {
                #expect(
                    page["starwatch_contract_violations_total", ["poll": World.starred, "kind": kind.rawValue]]
                        == (kind == breach.kind ? 1 : 0)
                )
            }
            #expect(page["starwatch_poll_outcomes_total", ["poll": World.starred, "outcome": "failed"]] == 1)

            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == ids)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func anUnorderedPageIsSortedCountedAndUsed(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 5)
            world.mock.script(.schemaViolation(.unorderedPage), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "changed")
            #expect(try world.announced == ids)
            #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == ids.last)
            let page = await agent.page()
            #expect(page["starwatch_contract_violations_total", ["poll": World.starred, "kind": "order"]] == 1)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aPageThatIsStuckEndsTheCycleInsteadOfLooping(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            let ids = world.mock.publish(count: 3)
            world.mock.forgetRequests()
            world.mock.setStickyFault(.schemaViolation(.stuckPage), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            // Descending, the first page cannot be told from a good one; the second one is the same again.
            #expect(world.mock.requestCount(of: .plansChanged) == (dialect == .endorser ? 2 : 1))
            let page = await agent.page()
            #expect(page["starwatch_contract_violations_total", ["poll": World.starred, "kind": "cursor"]] == 1)
            world.mock.clearFaults()
            _ = try await agent.runPoll(World.starred)
            #expect(try world.announced == ids)
            #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == ids.last)
        }
    }

    @Test func moreAfterAnEmptyPageIsALie() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.mock.script(.schemaViolation(.hitLimitLies), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            let page = await agent.page()
            #expect(page["starwatch_contract_violations_total", ["poll": World.starred, "kind": "hit_limit"]] == 1)
        }
    }

    @Test(arguments: MockDialect.allCases, [MockSchemaViolation.hitLimitLies, .missingPagination])
    func aLieAboutTheEndLosesNothing(dialect: MockDialect, violation: MockSchemaViolation) async throws {
        // The second time there is more than a page, most of it older than what the next cycle looks back for.
        for count in [20, 120] { try await lie(dialect, violation, count: count) }
    }

    private func lie(_ dialect: MockDialect, _ violation: MockSchemaViolation, count: Int) async throws {
        try await World.with(dialect, plans: 150) { world in
            let agent = try await world.agent { $0.server.dialect = dialect == .canonical ? .canonical : .endorser }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            let ids = (0..<count).flatMap { _ in
                world.clock.advance(by: .seconds(5))
                return world.mock.publish(count: 1)
            }
            world.mock.script(.schemaViolation(violation), at: .plansChanged)
            for _ in 0..<3 { _ = try await agent.runPoll(World.starred) }
            let acknowledged = try await agent.rows([.acknowledged])
            #expect(Set(acknowledged) == Set(ids), "\(acknowledged.count) of \(count)")
            #expect(try world.notifications.map(\.count).reduce(0, +) == count)
        }
    }

    @Test(arguments: [MockSchemaViolation.missingPagination, .wrongType])
    func strictValidationRefusesWhatLenientUses(violation: MockSchemaViolation) async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent {
                $0.polls[0].validation = .strict
                $0.server.dialect = .canonical
            }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            let ids = world.mock.publish(count: 2)
            world.mock.script(.schemaViolation(violation), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "failed")
            _ = try await agent.runPoll(World.starred)
            #expect(try world.announced == ids)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func quarantineRefusesTheItemInsteadOfThePage(dialect: MockDialect) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent { $0.polls[0].quarantineInvalid = .atOnce }
            #expect(try await agent.runPoll(World.starred).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            let ids = world.mock.publish(count: 3)
            world.mock.script(.schemaViolation(.nullHandleID), at: .plansChanged)
            let report = try await agent.runPoll(World.starred)
            #expect(report.outcome == "changed")
            // The first item of the page: the oldest where pages ascend, the newest where they descend.
            #expect(try world.announced == (dialect == .canonical ? Array(ids.dropFirst()) : Array(ids.dropLast())))
            let page = await agent.page()
            #expect(page["starwatch_outbox_changes_total", ["change": "rejected"]] == 1)
            #expect(page["starwatch_ledger_imbalance_rows", ["law": "fetched"]] == 0)
        }
    }

    /// A page with one item of a far future.
    private func farFuture(_ dialect: MockDialect, plan: String) -> String {
        dialect == .canonical
            ? #"{"data":[{"planSummary":{"jwtId":"9999999999_abc123_00000000","handleId":"\#(plan)"}}],"#
                + #""hitLimit":false,"pagination":{"hasMore":false}}"#
            : #"{"data":[{"plan":{"jwtId":"7ZZZZZZZZZ0000000000000000","handleId":"\#(plan)"}}],"hitLimit":false}"#
    }

    @Test(arguments: MockDialect.allCases, [false, true])
    func anIdentifierOfTheFarFutureDoesNotCarryTheCursorAway(dialect: MockDialect, isQuarantined: Bool) async throws {
        try await World.with(dialect) { world in
            let agent = try await world.agent {
                $0.polls[0].bootstrap = .beginning
                $0.polls[0].quarantineInvalid = isQuarantined ? .atOnce : .never
            }
            let first = world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).new == 1)
            world.mock.script(
                .status(200, body: farFuture(dialect, plan: world.mock.planIDs[0])),
                at: .plansChanged
            )
            #expect(try await agent.runPoll(World.starred).outcome == (isQuarantined ? "unchanged" : "failed"))
            #expect(try await agent.state(of: world.did).fetchCursor?.rawValue == first[0])
            let page = await agent.page()
            let labels = ["poll": World.starred, "kind": "schema"]
            #expect(page["starwatch_contract_violations_total", labels] == (isQuarantined ? 0 : 1))
            #expect(
                page["starwatch_outbox_changes_total", ["change": "rejected"]] == (isQuarantined ? 1 : 0)
            )
            world.clock.advance(by: .seconds(900))
            let second = world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).new == 1)
            #expect(try world.announced == first + second)
        }
    }

    @Test(arguments: MockDialect.allCases)
    func aServerWhoseClockIsFarAheadOfOursIsBelieved(dialect: MockDialect) async throws {
        try await World.with(dialect, mock: { $0.clockSkew = .seconds(86_400) }) { world in
            let agent = try await world.agent {
                $0.clock.source = .system
                $0.polls[0].bootstrap = .beginning
            }
            let ids = world.mock.publish(count: 2)
            #expect(try await agent.runPoll(World.starred).new == 2)
            #expect(try world.announced == ids)
        }
    }
}
