import Foundation

extension CanonicalDialect {
    private struct Request: Decodable {
        let acknowledgedJwtIds: [String]
        let acknowledgedAt: String?
        let clientVersion: String?
    }

    /// `POST /api/v2/plans/acknowledge`: acknowledges all identifiers or none, once per key.
    ///
    /// A repeated key with the same body gets the stored response, with another body a 409. An identifier that was
    /// never published fails the whole request: the response is a 200 with all identifiers in `failed`.
    static func acknowledge(_ request: IncomingRequest, _ requester: Requester, _ state: inout MockState) -> Reply {
        guard let key = request.header("X-Idempotency-Key"), !key.isEmpty else {
            return error(
                400,
                "invalid_request",
                "X-Idempotency-Key header is required",
                details: [("field", "X-Idempotency-Key")],
                in: &state
            )
        }
        if let reply = refuseUsedToken(requester, &state) { return reply }
        let owner = requester.did ?? ""
        if let stored = state.book.answer(for: key, of: owner) {
            guard stored.requestBody == request.body else {
                return error(
                    409,
                    "conflict",
                    "Idempotency key was used for another request",
                    details: [("field", "X-Idempotency-Key")],
                    in: &state
                )
            }
            var reply = Reply.json(200, .encoded(stored.answer))
            reply.headers.append(("Idempotency-Replayed", "true"))
            return reply
        }
        guard let body = try? JSONDecoder().decode(Request.self, from: Data(request.body)),
            !body.acknowledgedJwtIds.isEmpty, body.acknowledgedAt != nil, body.clientVersion != nil
        else {
            return error(
                400,
                "invalid_request",
                "Invalid body: expected acknowledgedJwtIds (not empty), acknowledgedAt, clientVersion",
                in: &state
            )
        }
        if let wrong = body.acknowledgedJwtIds.first(where: { !isIdentifier($0) }) {
            return error(
                400,
                "invalid_request",
                "Invalid acknowledgedJwtIds format: expected jwtIds",
                details: [("field", "acknowledgedJwtIds"), ("expected", "jwtId"), ("received", .string(wrong))],
                in: &state
            )
        }
        if let reply = limit(body.acknowledgedJwtIds.count, owner, &state) { return reply }
        let log = state.log
        let outcome = state.book.acknowledge(body.acknowledgedJwtIds, for: owner) { log.knows($0) }
        let answer: JSONValue = [
            "acknowledged": .integer(outcome.acknowledged), "failed": .integer(outcome.failed),
            "alreadyAcknowledged": .integer(outcome.alreadyAcknowledged),
            "acknowledgmentId": .string("ack_" + state.nextRequestID().dropFirst(4)),
            "timestamp": .string(ClockText.iso(Int(state.serverNow))),
        ]
        state.book.store(.init(requestBody: request.body, answer: answer.bytes), for: key, of: owner)
        return .json(200, answer)
    }

    private static func refuseUsedToken(_ requester: Requester, _ state: inout MockState) -> Reply? {
        guard state.options.auth != .none, let tokenID = requester.tokenID else { return nil }
        return state.limits.use(tokenID: tokenID, at: state.options.now()) ? nil : failure(.replayed, &state)
    }

    private static func limit(_ count: Int, _ owner: String, _ state: inout MockState) -> Reply? {
        guard let limit = state.options.acknowledgementsPerMinute else { return nil }
        let now = state.options.now()
        if state.limits.acknowledgements[owner, default: SlidingWindow()].take(count, of: limit, at: now) != nil {
            return nil
        }
        let wait = (state.limits.acknowledgements[owner]?.nextFree(at: now) ?? now).timeIntervalSince(now)
        return rateLimited(retryAfter: String(Int(wait.rounded(.up))), resetAt: state.serverNow + wait, &state)
    }
}
