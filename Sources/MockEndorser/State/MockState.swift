import Foundation

/// All that the mock knows. One lock guards it; nothing in here waits.
struct MockState: Sendable {
    let options: MockServerOptions
    var clockSkew: Duration
    var random: SeededRandom
    var plans: [MockPlan] = []
    var log: ChangeLog
    var offers: [OfferRow] = []
    var publishedIDs: [String] = []
    var book = AcknowledgementBook()
    var faults = FaultScript()
    var randomFaults: RandomFaults
    var requests: RequestLog
    var verifier: TokenVerifier
    var hooks: HookReceiver
    /// What `/content` answers.
    var content = "{}"
    var requestWindows: [String: SlidingWindow] = [:]
    var acknowledgementWindows: [String: SlidingWindow] = [:]
    var usedTokenIDs: [String: Date] = [:]
    var queries: [[UInt8]: ChangesQuery] = [:]
    /// Gzip streams by the number of bytes they unpack to.
    var bombs: [Int: [UInt8]] = [:]

    private var generator: PlanGenerator
    private var identifiers: IdentifierMaker
    private var indexOfPlan: [String: Int] = [:]
    private var versionOfPlan: [String: Int] = [:]
    private var lastRow: [String: ChangeRow] = [:]
    private var requestNumber = 0

    init(options: MockServerOptions) {
        self.options = options
        clockSkew = options.clockSkew
        random = SeededRandom(seed: options.seed)
        randomFaults = RandomFaults(rate: options.faultRate, seed: options.faultSeed)
        log = ChangeLog(keepsOneRowPerPlan: options.dialect == .endorser)
        requests = RequestLog(capacity: options.recordedRequests)
        // The real server knows no shared secret: whatever is configured, it verifies DID signatures.
        let verifiesDIDs = options.dialect == .endorser && options.auth != .none
        verifier = TokenVerifier(auth: verifiesDIDs ? .didKey : options.auth)
        hooks = HookReceiver(secret: options.hookSecret)
        generator = PlanGenerator(dialect: options.dialect, ownerDID: options.effectiveOwnerDID)
        identifiers = IdentifierMaker(dialect: options.dialect)
        for _ in 0..<options.planCount { addPlan(generator.plan(random: &random)) }
        if options.initialChangesOver == .zero {
            publish(count: options.initialChanges)
        } else if !plans.isEmpty {
            let step = options.initialChangesOver / max(options.initialChanges, 1)
            for number in 0..<options.initialChanges {
                let age = step * (options.initialChanges - number)
                publish(MockChange(planID: plans[number % plans.count].id, age: age))
            }
        }
    }

    /// The mock's own time, in seconds since 1970.
    var serverNow: Double { options.now().timeIntervalSince1970 + clockSkew.inSeconds }

    /// Replaces the catalogue. What was published stays published.
    mutating func setCatalogue(_ plans: [MockPlan]) {
        self.plans = []
        indexOfPlan = [:]
        for plan in plans { addPlan(plan) }
    }

    /// Publishes changes to plans of the catalogue in turn, so that none changes twice before all have changed once.
    @discardableResult
    mutating func publish(count: Int, age: Duration = .zero, visibleAfter: Duration = .zero) -> [String] {
        guard !plans.isEmpty else { return [] }
        return (0..<count).map { _ in
            let planID = plans[publishedIDs.count % plans.count].id
            return publish(MockChange(planID: planID, age: age, visibleAfter: visibleAfter))
        }
    }

    /// Publishes one change and returns its id.
    @discardableResult
    mutating func publish(_ change: MockChange) -> String {
        let time = serverNow - change.age.inSeconds
        let date = Date(timeIntervalSince1970: time)
        let id: String
        if let given = change.id {
            id = given
        } else if change.age > .zero {
            id = IdentifierMaker.single(at: date, options.dialect, random: &random)
        } else {
            id = identifiers.next(at: date, random: &random)
        }
        let index = indexOfPlan[change.planID] ?? addNamelessPlan(change.planID)
        if let name = change.name { plans[index].name = name }
        plans[index].description = change.description ?? random.pick(ProjectWords.notes)
        let version = versionOfPlan[change.planID, default: 0] + 1
        versionOfPlan[change.planID] = version
        var row = ChangeRow(
            id: id,
            plan: plans[index],
            version: version,
            changedAt: Int(time),
            previousClaim: lastRow[change.planID]?.claim
        )
        switch options.dialect {
        case .canonical: CanonicalDialect.encode(&row)
        case .endorser: EndorserDialect.encode(&row)
        }
        lastRow[change.planID] = row
        publishedIDs.append(id)
        let visibleAt = options.now().addingTimeInterval(change.visibleAfter.inSeconds)
        log.add(row, visibleAt: change.visibleAfter > .zero ? visibleAt : nil)
        return id
    }

    /// Publishes offers to plans of the catalogue and returns their ids.
    mutating func publishOffers(count: Int, to recipientDID: String?) -> [String] {
        guard !plans.isEmpty else { return [] }
        return (0..<count).map { _ in
            let now = serverNow
            let date = Date(timeIntervalSince1970: now)
            let id = identifiers.next(at: date, random: &random)
            let offer = OfferRow(
                id: id,
                handleID: options.dialect == .endorser
                    ? "https://endorser.ch/entity/\(id)" : "offer_\(offers.count + 1)",
                recipientDID: recipientDID ?? options.effectiveOwnerDID,
                offeredByDID: generator.did(random: &random),
                plan: plans[offers.count % plans.count],
                amount: Int(random.next() % 8) + 1,
                unit: "HUR",
                description: random.pick(ProjectWords.offers),
                issuedAt: Int(now)
            )
            offers.append(offer)
            return id
        }
    }

    /// The server's own id of a request, as its error bodies name it.
    mutating func nextRequestID() -> String {
        requestNumber += 1
        let hex = String(requestNumber, radix: 16)
        return "req_" + String(repeating: "0", count: max(0, 6 - hex.count)) + hex
    }

    private mutating func addPlan(_ plan: MockPlan) {
        if let index = indexOfPlan[plan.id] {
            plans[index] = plan
        } else {
            indexOfPlan[plan.id] = plans.count
            plans.append(plan)
        }
    }

    private mutating func addNamelessPlan(_ id: String) -> Int {
        var plan = generator.plan(random: &random)
        plan.id = id
        addPlan(plan)
        return plans.count - 1
    }
}

extension Duration {
    /// The duration as a number of seconds.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
