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
    func answer(for key: String, of requester: String) -> StoredAnswer? {
        answers["\(requester)\n\(key)"]
    }

    /// Stores the response for a key.
    mutating func store(_ answer: StoredAnswer, for key: String, of requester: String) {
        answers["\(requester)\n\(key)"] = answer
    }
}
