import Foundation
import MockEndorser
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

/// The same history of accounts, stars, changes and faults, with and without shared requests: each account gets the same
/// notifications.
///
/// Each dialect has short identifiers of plans in one test and long ones in the other. With `STARWATCH_HISTORIES=all`, as in
/// `scripts/test --full`, each has both in both.
@Suite struct SharedHistoryTests {
    private static let histories = MockDialect.allCases.flatMap { dialect in
        [0, 1].map { (dialect, seed: $0 as UInt64) }
    }
    private static let all = ProcessInfo.processInfo.environment["STARWATCH_HISTORIES"] == "all"

    /// Visits of all accounts at once, so that both runs find the same: the same notifications in the same order.
    @Test(arguments: all ? histories : [histories[0], histories[3]])
    func theNotificationsAreTheSame(_ dialect: MockDialect, seed: UInt64) async throws {
        let history = History(dialect: dialect, seed: seed, isSpread: false)
        let (alone, shared) = (try await history.run(sharing: false), try await history.run(sharing: true))
        for account in 0..<History.accounts { #expect(shared.heard[account] == alone.heard[account]) }
        expectFewerRequests(alone, shared)
    }

    /// Visits at different times, and faults that hit a request of one account or that of all: each change once, with the same
    /// contents.
    @Test(arguments: all ? histories : [histories[1], histories[2]])
    func theChangesAreTheSameWhateverTheTimesOfTheVisits(_ dialect: MockDialect, seed: UInt64) async throws {
        let history = History(dialect: dialect, seed: seed, isSpread: true)
        let (alone, shared) = (try await history.run(sharing: false), try await history.run(sharing: true))
        for account in 0..<History.accounts {
            let (first, second) = (alone.changes(of: account), shared.changes(of: account))
            #expect(first == second)
            #expect(Set(first).count == first.count)
        }
        expectFewerRequests(alone, shared)
    }

    private func expectFewerRequests(_ alone: History.Result, _ shared: History.Result) {
        #expect(alone.heard.contains { $0.count > 5 })
        #expect(shared.polls > 0)
        #expect(shared.requests < alone.requests)
    }
}

/// A random history, the same for the same seed.
private struct History {
    /// What the accounts were told.
    struct Result {
        /// The notifications of each account, without their identifiers and times.
        var heard: [[Notice]] = []
        var polls = 0.0
        var requests = 0

        func changes(of account: Int) -> [String] { heard[account].flatMap(\.changes).sorted() }
    }

    struct Notice: Equatable {
        let text: String
        let changes: [String]
    }

    static let accounts = 12
    private static let interval = Duration.seconds(300)
    /// A plan is not changed again until each account has polled, because the server shows only its last change.
    private static let rest = Duration.seconds(1200)

    let dialect: MockDialect
    let seed: UInt64
    let isSpread: Bool

    /// Every second history has plans with such long identifiers that they need several requests.
    private var isLong: Bool { seed % 2 == 1 }
    private var plans: [String] {
        (0..<(isLong ? 26 : 70)).map { number in
            "https://example.org/plans/\(number)" + (isLong ? "/" + String(repeating: "x", count: 1900) : "")
        }
    }

    func run(sharing: Bool) async throws -> Result {
        let plans = plans
        var result = Result()
        try await World.with(dialect, plans: 0, mock: { $0.requestsPerMinute = nil }) { world in
            let agent = try await agent(world, sharing: sharing)
            var dice = Dice(state: seed &+ 1)
            var player = Player(world: world, agent: agent, plans: plans, isSpread: isSpread)
            try await player.begin(&dice)
            for number in 0..<(isSpread ? 160 : 30) {
                if isSpread {
                    try await player.step(number % 40, &dice)
                } else {
                    try await player.step(&dice)
                }
                await player.visit(after: isSpread ? .seconds(40) : Self.interval)
                await player.heal()
            }
            world.mock.clearFaults()
            for _ in 0..<10 { await player.visit(after: Self.interval) }
            result = try await self.result(world, agent)
        }
        return result
    }

    private func agent(_ world: World, sharing: Bool) async throws -> Agent {
        let key = try world.folder.write(Data(repeating: 7, count: 32).base64EncodedString(), to: "key")
        return try await world.agent { options in
            options.accounts = .many
            options.initialIdentity = nil
            options.security.masterKeyFile = key
            options.polls[0].planIDs = []
            options.polls[0].timing = .every(Self.interval)
            options.polls[0].splay = isSpread ? Self.interval : .zero
            options.fleet.requestsPerSecond = 10_000
            options.fleet.sharedRequests = sharing
            options.limits.requestsPerMinute = 100_000
            options.limits.acknowledgementsPerMinute = 1_000_000
        }
    }

    private func result(_ world: World, _ agent: Agent) async throws -> Result {
        var result = Result()
        let messages = try world.lines.compactMap { NotificationMessage(json: Array($0)) }
        result.heard = (0..<Self.accounts).map { index in
            let name = agent.process.pseudonym.hash(Crowd.did(index))
            return messages.filter { $0.account == name }.map { message in
                Notice(
                    text: "\(message.title)|\(message.body)|\(message.count)",
                    changes: message.changes.map { StableJSON.text(of: $0) }
                )
            }
        }
        result.polls = await agent.page()["starwatch_fleet_shared_polls_total"] ?? 0
        result.requests = world.mock.requestCount(of: .plansChanged)
        return result
    }

    /// What happens to the server and to the accounts.
    private struct Player {
        let world: World
        let agent: Agent
        let plans: [String]
        let isSpread: Bool
        private var count = 0
        private var changedAt: [Int: Timestamp] = [:]
        private var isSticky = false
        /// The time of the present step, the same in both runs. Waits for retries move the clock in between.
        private var now = ManualClock.start

        init(world: World, agent: Agent, plans: [String], isSpread: Bool) {
            (self.world, self.agent, self.plans, self.isSpread) = (world, agent, plans, isSpread)
        }

        mutating func begin(_ dice: inout Dice) async throws {
            publish((0..<plans.count).filter { _ in dice.roll(3) > 0 }, age: 0, visibleAfter: 0)
            for index in 0..<History.accounts { try await star(index, &dice) }
            await visit(after: .seconds(400))
        }

        /// Moves on to the next step, and visits the accounts that are due.
        mutating func visit(after time: Duration) async {
            now = now + time + .seconds(1)
            #expect(now >= world.clock.now)
            await agent.visitAll(after: now - world.clock.now, on: world.clock)
        }

        /// A step between visits at different times. Stars change only when every account has seen everything: what is news of a
        /// new star, and what was heard of a former one, depends on the time of the last poll.
        mutating func step(_ phase: Int, _ dice: inout Dice) async throws {
            if phase < 20 { return try await step(&dice) }
            if phase == 20 {
                world.mock.clearFaults()
                for index in 0..<History.accounts { try await pause(index, false) }
            } else if phase == 36 {
                for _ in 0..<3 { try await star(dice.roll(History.accounts), &dice) }
            }
        }

        mutating func step(_ dice: inout Dice) async throws {
            let changed = (0..<dice.roll(isSpread ? 3 : 8)).map { _ in dice.roll(plans.count) }
            let isLate = dice.roll(4) == 0
            publish(changed, age: isLate ? 3 : 0, visibleAfter: isLate ? dice.roll(3) : 0)
            if dice.roll(15) == 0 { publish(0..<plans.count, age: 0, visibleAfter: 0) }
            if !isSpread, dice.roll(6) == 0 { try await star(dice.roll(History.accounts), &dice) }
            if dice.roll(6) == 0 { try await pause(dice.roll(History.accounts), dice.roll(2) == 0) }
            if dice.roll(8) == 0 { try await poll(dice.roll(History.accounts)) }
            fault(dice.roll(10), dice.roll(History.faults.count))
        }

        /// Ends a fault of the server.
        mutating func heal() async {
            guard isSticky else { return }
            isSticky = false
            world.mock.clearFaults()
            guard !isSpread else { return }
            for _ in 0..<3 { await visit(after: History.interval) }
        }

        private mutating func publish(_ numbers: some Sequence<Int>, age: Int, visibleAfter: Int) {
            for number in Set(numbers).sorted()
            where changedAt[number].map({ now - $0 > History.rest }) ?? true {
                changedAt[number] = now
                count += 1
                let id = JWTID.floor(world.mock.dialectKind, at: now - .seconds(age)).rawValue.dropLast(6)
                let digits = String(String(1_000_000 + count).suffix(6))
                var change = MockChange(planID: plans[number], id: id + digits, visibleAfter: .seconds(visibleAfter))
                (change.name, change.description) = ("Plan \(number)", "Text \(count)")
                world.mock.publish([change])
            }
        }

        private func star(_ index: Int, _ dice: inout Dice) async throws {
            // The first account stars more than a page has.
            let number = index == 0 ? plans.count * 9 / 10 : 1 + dice.roll(5)
            let stars = plans.indices.map { ($0, dice.roll(1000)) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
            let addition = AccountAdditions(accounts: [
                .init(did: Crowd.did(index).rawValue, stars: stars.prefix(number).map { plans[$0.0] })
            ])
            #expect(try await agent.perform(ControlAPI.addAccounts, addition).accounts.map(\.problem) == [nil])
        }

        private func pause(_ index: Int, _ isPaused: Bool) async throws {
            let account = IdentityRemoval(did: Crowd.did(index).rawValue)
            _ = try await agent.perform(isPaused ? ControlAPI.pauseAccount : ControlAPI.resumeAccount, account)
        }

        private func poll(_ index: Int) async throws {
            var caller = Operator.program
            caller.account = Crowd.did(index)
            // One that is paused cannot poll.
            _ = try? await agent.topics.perform(ControlAPI.runPoll, PollRun(World.starred), for: caller)
        }

        private mutating func fault(_ chance: Int, _ kind: Int) {
            if chance == 0 {
                isSticky = true
                world.mock.setStickyFault(kind % 2 == 0 ? .status(500) : .resetBeforeHead, at: .plansChanged)
            } else if chance < 4, isSpread {
                world.mock.script(History.faults[kind], at: .plansChanged)
            } else if chance == 4 {
                world.mock.script(.status(503), at: .plansChanged)
            }
        }
    }

    private static let faults: [MockFault] = [
        .status(500), .status(400), .status(413), .resetBeforeHead, .resetMidBody(afterBytes: 5), .malformedJSON,
        .rateLimited(retryAfter: .seconds(3)), .schemaViolation(.missingJWTID), .schemaViolation(.nullHandleID),
        .schemaViolation(.wrongType), .schemaViolation(.dataNotArray), .schemaViolation(.unorderedPage),
        .schemaViolation(.foreignID),
    ]
}

/// A seeded generator of small numbers.
struct Dice {
    var state: UInt64

    /// A number below `sides`.
    mutating func roll(_ sides: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ mixed >> 31) % UInt64(sides))
    }
}

extension MockServer {
    fileprivate var dialectKind: IDKind { options.dialect == .endorser ? .ulid : .timestamped }
}
