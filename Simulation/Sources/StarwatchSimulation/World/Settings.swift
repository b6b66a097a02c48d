import Starwatch
import StarwatchCore

/// Settings of a run, drawn from its seed: the server, the feed, the agent's options.
struct Settings: Sendable {
    // MARK: - The server

    let dialect: Dialect
    let isDialectKnown: Bool
    /// Microseconds by which the server's clock is ahead of the true time.
    let serverSkew: Int64
    let pageSize: Int
    let usesTokens: Bool
    let keepsOneRowPerPlan: Bool
    let plans: [String]
    /// Maximum number of changes that are published at once.
    let burst: Int

    // MARK: - The agent

    let interval: Duration
    let isCron: Bool
    let watchesOffers: Bool
    let requestsPerMinute: Int
    let acknowledgementsPerMinute: Int
    let batchSize: Int
    let acknowledgesLocally: Bool
    let cap: Int
    let eviction: EvictionPolicy
    let bootstrap: PollOptions.Bootstrap
    let groupInterval: Duration
    let groupWait: Duration
    let maxRetries: Int
    let keepDelivered: Duration
    let cleanupInterval: Duration
    let maxConcurrent: Int
    let catchUp: CatchUp
    let believesOwnClock: Bool
    let sinkCount: Int
    /// Sinks with `required: false`, by index. The first one is required.
    let optionalSinks: Set<Int>
    /// `give_up_after` of every sink.
    let giveUpAfter: Duration?

    // MARK: - The world

    /// Longest latency of one direction, in microseconds.
    let latency: Int
    let intensity: Double
    /// Kinds of fault of this run. Excluding some lets the others have longer effects.
    let kinds: Set<FaultKind>
    /// Whether the database has a master key.
    let isEncrypted: Bool
    /// `true` if the first agent makes its database itself.
    let isDiskEmpty: Bool
    /// Accounts of an agent for many; empty for one with an active identity. Each has plans of its own.
    let served: [DID]
    /// Processes that share the accounts.
    let stores: Int

    static let accounts = ["did:ethr:0x000000000000000000000000000000000000000a", "did:key:z6Mkb"].map { DID($0)! }
    static let starred = PollName("starred_projects")!
    static let offers = PollName("offers_to_me")!
    static let server = "http://endorser.test"

    /// Plans that only the account with this index stars.
    func plans(of account: Int) -> [String] { plans.filter { owner(of: $0) == account } }

    /// Index of the account that can star a plan; `nil` for an agent with an active identity.
    func owner(of plan: String) -> Int? {
        served.isEmpty ? nil : plan.split(separator: "/").dropFirst().first.flatMap { Int($0) }
    }

    /// - Parameters:
    ///   - accounts: The number of accounts of an agent for many.
    ///   - stores: The number of processes that share them.
    init(seed: UInt64, accounts: Int = 0, stores: Int = 1) {
        self.stores = stores
        var chance = Chance(seed: seed, "settings")
        dialect = chance.pick(Dialect.allCases)
        isDialectKnown = chance.happens(0.5)
        serverSkew = Int64(chance.pick([0, 0, 0, 5, -5, 3600, -3600])) * 1_000_000
        // Mostly the size of real servers: small pages have more edge cases, and cost more.
        pageSize = chance.pick([1, 3, 10, 10, 50, 50, 50, 50])
        let canUseTokens = chance.happens(0.6)
        keepsOneRowPerPlan = dialect == .endorser && chance.happens(0.5)
        // Sometimes too many bytes for one request, so that the agent splits the plans. Each identifier stays below
        // 2,048 bytes: the agent rejects a page with a longer one.
        let isSplit = dialect == .endorser && chance.happens(0.1)
        let filling = String(repeating: "x", count: isSplit ? 1900 : 0)
        let count = chance.number(2...10)
        // With a scheme: an agent refuses to serve an account with plans that its server's dialect cannot have.
        plans =
            accounts > 0
            ? (0..<accounts).flatMap { account in (0..<(count + 2) / 3).map { "plan:/\(account)/\($0)" } }
            : (0..<count + (isSplit ? 40 : 0)).map { "plan/\($0)" + filling }
        served = (0..<accounts).map { index in
            DID("did:ethr:0x" + String(repeating: "0", count: 36) + String(index + 0x1000, radix: 16))!
        }
        burst = chance.pick([1, 3, 12, 40])
        interval = .seconds(chance.pick([1, 2, 5, 10, 30]))
        isCron = chance.happens(0.1)
        watchesOffers = chance.happens(0.4) && accounts == 0
        // Without tokens the agent does not ask for offers. Many accounts would need a key each.
        usesTokens = (canUseTokens || watchesOffers) && accounts == 0
        requestsPerMinute = chance.pick([10, 40, 100, 100])
        acknowledgementsPerMinute = chance.pick([20, 1000, 1000])
        batchSize = chance.pick([1, 7, 100])
        acknowledgesLocally = chance.happens(0.15)
        let usualCap = chance.pick([10, 30, 100, 100])
        eviction = chance.pick(EvictionPolicy.allCases)
        bootstrap = chance.pick([.latest, .beginning])
        groupInterval = .seconds(chance.pick([0, 0, 5, 60, 300]))
        groupWait = .seconds(chance.pick([0, 0, 3]))
        maxRetries = chance.number(1...3)
        keepDelivered = .seconds(chance.pick([60, 3600, 7 * 86_400]))
        cleanupInterval = .seconds(chance.pick([60, 600, 600, 3600, 3600, 3600]))
        let concurrent = chance.number(1...3)
        maxConcurrent = accounts > 10 ? 16 : concurrent
        catchUp = chance.pick([CatchUp.latest, .none])
        believesOwnClock = chance.happens(0.2)
        sinkCount = chance.pick([1, 1, 2, 3])
        latency = chance.pick([1000, 50_000, 800_000])
        intensity = chance.pick([0.2, 1, 1, 4])
        var encryption = Chance(seed: seed, "encryption")
        // Without keys nobody's data could be erased.
        isEncrypted = encryption.happens(0.5) || accounts > 0
        let drawn = FaultKind.allCases.filter { !FaultKind.chosenApart.contains($0) }
            .filter { _ in chance.happens(0.6) }
        var apart = Chance(seed: seed, "faults chosen apart")
        var more: [FaultKind] = [.hostileClaim, .invalidItem, .unreadableItem, .flood, .serverClock, .flippedBit]
            .filter { _ in apart.happens(0.5) }
        // While a cursor is ahead of the server's time, the agent sees the same changes again, and announces again what
        // it has deleted.
        // A walk of several cycles begins anew in each of them, which is the same. One with small pages takes days.
        if keepDelivered < .seconds(86_400) { more.removeAll { $0 == .serverClock || $0 == .flood } }
        if pageSize < 10 { more.removeAll { $0 == .flood } }
        // After a restart only the local clock tells how long no walk was made.
        if drawn.contains(.clockStep) { more.removeAll { $0 == .serverClock } }
        if !isEncrypted { more.removeAll { $0 == .flippedBit } }
        let ofMany =
            accounts > 0 ? FaultKind.allCases.filter(FaultKind.ofMany.contains).filter { _ in apart.happens(0.7) } : []
        var several = Chance(seed: seed, "several processes")
        let ofSeveral =
            stores > 1
            ? FaultKind.allCases.filter(FaultKind.ofSeveral.contains).filter { _ in several.happens(0.7) } : []
        kinds = Set(drawn + more + (isEncrypted ? [.keyRotation] : [])).union(ofMany).union(ofSeveral)
            .subtracting(accounts > 0 ? FaultKind.ofOne : []).subtracting(stores > 1 ? FaultKind.ofAlone : [])
        // Room for groups of several notifications.
        cap = more.contains(.flood) && apart.happens(0.7) ? 500 : usualCap
        isDiskEmpty = chance.happens(0.1)
        optionalSinks = Set((1..<max(sinkCount, 2)).filter { _ in chance.happens(0.5) })
        giveUpAfter = chance.pick([nil, nil, .seconds(20), .seconds(600), .seconds(3600)])
    }

    /// Returns the agent's options.
    func options(path: String, secretFile: String, masterKeyFile: String, tuning: Tuning) -> AgentOptions {
        var options = AgentOptions()
        options.server.url = Self.server
        options.server.dialect = isDialectKnown ? (dialect == .canonical ? .canonical : .endorser) : .auto
        if served.isEmpty {
            options.initialIdentity = Self.accounts[0]
        } else {
            options.accounts = .many
            options.fleet.requestsPerSecond = 1000
            // The network knows the account of a request by its plans.
            options.fleet.sharedRequests = false
            options.security.masterKeyFile = masterKeyFile
        }
        if usesTokens {
            options.auth.kind = .sharedSecret
            options.auth.secretFile = secretFile
        }
        options.storage.path = path
        var starred = PollOptions(name: Self.starred, kind: .starredProjects)
        if served.isEmpty { starred.planIDs = Array(plans.prefix((plans.count + 1) / 2)) }
        var offers = PollOptions(name: Self.offers, kind: .offersToMe)
        starred.timing = isCron ? .cron("* * * * *", timezone: "UTC") : .every(interval)
        offers.timing = .every(interval)
        for poll in watchesOffers ? [starred, offers] : [starred] {
            var poll = poll
            poll.bootstrap = bootstrap
            poll.catchUp = catchUp
            options.polls.append(poll)
        }
        options.outbox.maxUndelivered = tuning.cap
        options.outbox.eviction = eviction
        options.outbox.maxRetries = maxRetries
        options.outbox.keepDelivered = keepDelivered
        options.outbox.cleanupInterval = cleanupInterval
        options.delivery.groupInterval = groupInterval
        options.delivery.groupWait = groupWait
        // Receivers compare notifications with changes.
        options.delivery.stalenessNotice = false
        options.delivery.sinks = (0..<sinkCount).map {
            var sink = SinkOptions(
                name: Receiver.name($0),
                kind: .webhook(url: Receiver.url($0), secretFile: nil, timeout: .seconds(10))
            )
            sink.isRequired = !optionalSinks.contains($0)
            sink.giveUpAfter = giveUpAfter
            return sink
        }
        options.acknowledge.mode = acknowledgesLocally ? .local : .auto
        options.acknowledge.batchSize = batchSize
        options.limits.requestsPerMinute = tuning.requestsPerMinute
        options.limits.acknowledgementsPerMinute = acknowledgementsPerMinute
        options.limits.maxConcurrentPolls = maxConcurrent
        options.clock.source = believesOwnClock ? .system : .auto
        options.log.level = .critical
        return options
    }
}

/// Options that change during a run.
struct Tuning: Sendable {
    var cap: Int
    var requestsPerMinute: Int
}
