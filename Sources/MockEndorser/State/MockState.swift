import Foundation

/// The state of the mock. One lock guards it, and nothing in it waits.
struct MockState: Sendable {
    let options: MockServerOptions
    /// Lead of the mock's clock over the options' clock.
    var clockSkew: Duration
    var catalogue = PlanCatalogue()
    var log: ChangeLog
    var offers: [OfferRow] = []
    var gives: [OfferRow] = []
    var confirmations: [ClaimRow] = []
    var book = AcknowledgementBook()
    var limits = RequestLimits()
    var faults: FaultScript
    var requests: RequestLog
    var verifier: TokenVerifier
    var hooks: HookReceiver
    var others: OtherContent
    /// Parsed queries by request body.
    var queries: [[UInt8]: ChangesQuery] = [:]

    private var maker: ContentMaker
    private var requestNumber = 0

    init(options: MockServerOptions) {
        self.options = options
        clockSkew = options.clockSkew
        others = OtherContent(options.lists)
        log = ChangeLog(keepsOneRowPerPlan: options.keepsOneRowPerPlan ?? (options.dialect == .endorser))
        faults = FaultScript(random: RandomFaults(rate: options.randomFaults.rate, seed: options.randomFaults.seed))
        requests = RequestLog(capacity: options.recordedRequests)
        verifier = Self.verifier(of: options.auth, options.dialect)
        hooks = HookReceiver(secret: options.hookSecret)
        maker = ContentMaker(
            dialect: options.dialect,
            ownerDID: options.effectiveOwnerDID,
            seed: options.generator.seed
        )
        for _ in 0..<options.planCount { catalogue.add(maker.plan()) }
        publishHistory(options.history)
    }

    private static func verifier(of auth: MockAuth, _ dialect: MockDialect) -> TokenVerifier {
        // The real server has no shared secret: with any authentication it verifies DID signatures.
        TokenVerifier(auth: dialect == .endorser && auth != .none ? .didKey : auth)
    }

    /// Accepts other tokens from now on.
    mutating func setAuth(_ auth: MockAuth) { verifier = Self.verifier(of: auth, options.dialect) }

    private mutating func publishHistory(_ history: MockHistory) {
        guard history.span > .zero else {
            publish(count: history.changes)
            return
        }
        guard !catalogue.plans.isEmpty else { return }
        let step = history.span / max(history.changes, 1)
        for number in 0..<history.changes {
            let plan = catalogue.plans[number % catalogue.plans.count]
            publish(MockChange(planID: plan.id, age: step * (history.changes - number)))
        }
    }

    /// The mock's own time, in Unix seconds.
    var serverNow: Double { options.now().timeIntervalSince1970 + clockSkew.inSeconds }

    /// Publishes changes to the catalogue's plans in turn: each plan changes once before any changes again.
    ///
    /// An empty catalogue has nothing to change, so nothing is published.
    @discardableResult
    mutating func publish(count: Int, age: Duration = .zero, visibleAfter: Duration = .zero) -> [String] {
        guard !catalogue.plans.isEmpty else { return [] }
        return (0..<count).map { _ in
            let planID = catalogue.plans[log.publishedIDs.count % catalogue.plans.count].id
            return publish(MockChange(planID: planID, age: age, visibleAfter: visibleAfter))
        }
    }

    /// Publishes one change and returns its identifier.
    @discardableResult
    mutating func publish(_ change: MockChange) -> String {
        let time = serverNow - change.age.inSeconds
        let id = change.id ?? maker.changeID(at: time, isBackdated: change.age > .zero)
        var plan = catalogue[change.planID] ?? newPlan(change.planID)
        if let name = change.name { plan.name = name }
        plan.description = change.description ?? maker.note()
        plan.issuerDID = change.issuerDID ?? options.effectiveAuthorDID
        catalogue.add(plan)
        let previous = log.latest[change.planID]
        var row = ChangeRow(
            id: id,
            plan: plan,
            version: (previous?.version ?? 0) + 1,
            changedAt: Int(time),
            claimContent: change.claim.map { Array($0.utf8) },
            previousClaim: previous?.claim
        )
        switch options.dialect {
        case .canonical: CanonicalRow.encode(&row)
        case .endorser: EndorserRow.encode(&row)
        }
        let visibleAt = options.now().addingTimeInterval(change.visibleAfter.inSeconds)
        log.add(row, visibleAt: change.visibleAfter > .zero ? visibleAt : nil)
        return id
    }

    /// Publishes offers to the catalogue's plans in turn and returns their identifiers.
    ///
    /// - Parameter link: The way in which each names its plan; `nil`: ``MockOfferLink/usual`` in turn.
    mutating func publishOffers(
        count: Int,
        to recipientDID: String?,
        by offererDID: String? = nil,
        link: MockOfferLink? = nil
    ) -> [String] {
        guard !catalogue.plans.isEmpty else { return [] }
        return (0..<count).map { _ in
            let plan = catalogue.plans[offers.count % catalogue.plans.count]
            var offer = maker.offer(to: plan, recipientDID: recipientDID, by: offererDID, at: serverNow)
            offer.link = self.link(to: plan, link)
            offers.append(offer)
            return offer.id
        }
    }

    private func link(to plan: MockPlan, _ form: MockOfferLink?) -> OfferLink {
        let usual = MockOfferLink.usual
        return OfferLink(
            form: form ?? usual[offers.count % usual.count],
            plan: plan.id,
            lastClaim: log.latest[plan.id]?.id ?? plan.id.split(separator: "/").last.map(String.init) ?? plan.id,
            other: catalogue.plans[(offers.count + 1) % catalogue.plans.count].id
        )
    }

    /// Publishes an offer to a person and returns its identifier.
    mutating func publishOffer(claim: String?, handleID: String?, to recipientDID: String?) -> String {
        guard let plan = catalogue.plans.first else { return "" }
        var offer = maker.offer(to: plan, recipientDID: recipientDID, at: serverNow)
        offer.link = link(to: plan, nil)
        offer.claimContent = claim.map { Array($0.utf8) }
        if let handleID { (offer.handleID, offer.isWithoutPlan) = (handleID, true) }
        offers.append(offer)
        return offer.id
    }

    /// Publishes gifts to the catalogue's plans in turn and returns their identifiers.
    mutating func publishGives(count: Int, to recipientDID: String?, by giverDID: String? = nil) -> [String] {
        guard !catalogue.plans.isEmpty else { return [] }
        return (0..<count).map { _ in
            let plan = catalogue.plans[gives.count % catalogue.plans.count]
            let give = maker.offer("give", to: plan, recipientDID: recipientDID, by: giverDID, at: serverNow)
            gives.append(give)
            return give.id
        }
    }

    /// Publishes a gift to a person, for the first plan or none, and returns its identifier.
    mutating func publishGive(
        handleID: String?,
        hasPlan: Bool,
        fulfilling offerHandleID: String?,
        to recipientDID: String?
    ) -> String {
        guard let plan = catalogue.plans.first else { return "" }
        var give = maker.offer("give", to: plan, recipientDID: recipientDID, at: serverNow)
        (give.handleID, give.isWithoutPlan) = (handleID ?? give.handleID, !hasPlan)
        give.offerHandleID = offerHandleID
        gives.append(give)
        return give.id
    }

    /// Publishes a confirmation, whose claim has these members, and returns its identifier.
    mutating func publishConfirmation(of object: JSONValue, by issuerDID: String?) -> String {
        guard let plan = catalogue.plans.first else { return "" }
        let base = maker.offer("confirmation", to: plan, recipientDID: nil, by: issuerDID, at: serverNow)
        confirmations.append(ClaimRow(base, "AgreeAction", ["@type": "AgreeAction", "object": object]))
        return base.id
    }

    /// The server's own identifier of a request, for its error bodies.
    mutating func nextRequestID() -> String {
        requestNumber += 1
        return "req_" + String(format: "%06x", requestNumber)
    }

    private mutating func newPlan(_ id: String) -> MockPlan {
        var plan = maker.plan()
        plan.id = id
        return plan
    }
}

extension Duration {
    /// The duration in seconds.
    var inSeconds: Double { self / .seconds(1) }
}

/// The acknowledged identifiers of each requester, and the stored responses of idempotency keys.
struct AcknowledgementBook: Sendable {
    /// The counts of one request.
    struct Outcome: Sendable, Equatable {
        var acknowledged = 0
        var alreadyAcknowledged = 0
        var failed = 0
    }

    /// A response that is repeated for the same key.
    struct StoredAnswer: Sendable {
        let requestBody: [UInt8]
        let answer: [UInt8]
    }

    private var idsOfRequester: [String: Set<String>] = [:]
    private var answers: [String: StoredAnswer] = [:]
    /// All acknowledged identifiers in the order of acknowledgement.
    private(set) var order: [String] = []
    /// Number of requests that acknowledged something new.
    private(set) var applied = 0

    /// Acknowledges all identifiers; none if one of them is unknown.
    mutating func acknowledge(_ ids: [String], for requester: String, isKnown: (String) -> Bool) -> Outcome {
        var unique: Set<String> = []
        let distinct = ids.filter { unique.insert($0).inserted }
        guard distinct.allSatisfy(isKnown) else { return Outcome(failed: distinct.count) }
        var outcome = Outcome()
        for id in distinct {
            if idsOfRequester[requester, default: []].insert(id).inserted {
                outcome.acknowledged += 1
                order.append(id)
            } else {
                outcome.alreadyAcknowledged += 1
            }
        }
        if outcome.acknowledged > 0 { applied += 1 }
        return outcome
    }

    /// The stored response for a requester's key; `nil` if the key is new.
    func answer(for key: String, of requester: String) -> StoredAnswer? { answers["\(requester)\n\(key)"] }

    /// Stores the response for a key.
    mutating func store(_ answer: StoredAnswer, for key: String, of requester: String) {
        answers["\(requester)\n\(key)"] = answer
    }
}
