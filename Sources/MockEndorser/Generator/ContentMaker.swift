import Foundation

/// Generates plans, notes, offers and identifiers from one seed.
struct ContentMaker: Sendable {
    private let dialect: MockDialect
    private let ownerDID: String
    private var random: SeededRandom
    private var plans: PlanGenerator
    private var identifiers: IdentifierMaker
    private var offersMade = 0

    init(dialect: MockDialect, ownerDID: String, seed: UInt64) {
        self.dialect = dialect
        self.ownerDID = ownerDID
        random = SeededRandom(seed: seed)
        plans = PlanGenerator(dialect: dialect, ownerDID: ownerDID)
        identifiers = IdentifierMaker(dialect: dialect)
    }

    mutating func plan() -> MockPlan { plans.plan(random: &random) }

    /// A description of progress, for a plan's new version.
    mutating func note() -> String { random.pick(ProjectWords.notes) }

    /// The identifier of a change at `time`, in Unix seconds.
    ///
    /// - Parameter isBackdated: Whether the identifier can sort before those already made.
    mutating func changeID(at time: Double, isBackdated: Bool) -> String {
        let date = Date(timeIntervalSince1970: time)
        return isBackdated
            ? IdentifierMaker.single(at: date, dialect, random: &random) : identifiers.next(at: date, random: &random)
    }

    /// The next offer or gift to `plan`.
    ///
    /// - Parameters:
    ///   - word: The first word of a handle in the canonical dialect.
    ///   - recipientDID: The recipient; `nil` for the owner.
    ///   - offererDID: The person who offers or gives; `nil` for a random one.
    ///   - time: The time of the offer or gift, in Unix seconds.
    mutating func offer(
        _ word: String = "offer",
        to plan: MockPlan,
        recipientDID: String?,
        by offererDID: String? = nil,
        at time: Double
    ) -> OfferRow {
        let id = identifiers.next(at: Date(timeIntervalSince1970: time), random: &random)
        offersMade += 1
        return OfferRow(
            id: id,
            handleID: dialect == .endorser ? "https://endorser.ch/entity/\(id)" : "\(word)_\(offersMade)",
            recipientDID: recipientDID ?? ownerDID,
            offeredByDID: offererDID ?? plans.did(random: &random),
            plan: plan,
            amount: Int(random.next() % 8) + 1,
            unit: "HUR",
            description: random.pick(ProjectWords.offers),
            issuedAt: Int(time)
        )
    }
}
