/// Which ids each requester has acknowledged, and the answers to idempotency keys.
struct AcknowledgementBook: Sendable {
    /// What became of one request.
    struct Outcome: Sendable, Equatable {
        var acknowledged = 0
        var alreadyAcknowledged = 0
        var failed = 0
    }

    /// An answer that is given again to the same key.
    struct StoredAnswer: Sendable {
        let requestBody: [UInt8]
        let answer: [UInt8]
    }

    private var idsOfRequester: [String: Set<String>] = [:]
    private var answers: [String: StoredAnswer] = [:]
    /// Every acknowledged id, in the order of acknowledgement.
    private(set) var order: [String] = []
    /// The number of requests that changed something.
    private(set) var applied = 0

    /// Acknowledges all the ids or, if one of them is unknown, none.
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

    /// The answer once given to this key of this requester.
    func answer(for key: String, of requester: String) -> StoredAnswer? {
        answers["\(requester)\n\(key)"]
    }

    /// Remembers the answer to a key.
    mutating func store(_ answer: StoredAnswer, for key: String, of requester: String) {
        answers["\(requester)\n\(key)"] = answer
    }
}
