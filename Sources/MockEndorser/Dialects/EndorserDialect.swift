import Foundation

/// The server at api.endorser.ch, modelled on its source code.
enum EndorserDialect {
    /// Limit of a page's rows.
    static let pageSize = 50

    /// Returns the response to an API request, checked in the real server's order: body, token, route, parameters.
    static func respond(to call: APICall, _ state: inout MockState) -> Reply {
        let request = call.request
        if request.method == "OPTIONS" { return Reply(status: 204) }
        if request.isBodyTooLong { return .html(413, "<h1>413 Error</h1><pre>request entity too large</pre>") }
        if request.method == "POST", request.hasJSONBody, !request.body.isEmpty, state.queries[request.body] == nil,
            (try? JSONSerialization.jsonObject(with: Data(request.body))) == nil
        {
            return .html(400, "<h1>400 Error</h1><pre>Unexpected token in JSON</pre>")
        }
        var reply: Reply
        do throws(TokenFailure) {
            let requester = try state.verifier.verifyEndorser(token(of: request), now: state.serverNow)
            reply = route(call, from: requester, &state)
        } catch {
            reply = failure(error, now: state.serverNow)
        }
        reply.addETag(for: request)
        return reply
    }

    /// The response to an invalid token.
    static func failure(_ failure: TokenFailure, now: Double) -> Reply {
        let time = Int(now)
        var code = "JWT_VERIFY_FAILED"
        let detail: String
        switch failure {
        case .expired(let expiry): detail = "invalid_jwt: JWT has expired: exp: \(expiry) < now: \(time)"
        case .issuedInFuture(let issued):
            detail = "invalid_jwt: JWT not valid yet (issued in the future) iat: \(issued)"
        case .notYetValid(let start): detail = "invalid_jwt: JWT not valid before nbf: \(start)"
        case .wrongAudience:
            detail = "invalid_config: JWT audience is required but your app address has not been configured"
        case .unsupportedAlgorithm(let name):
            detail = "not_supported: No supported signature types for algorithm \(name)"
        case .unsupportedMethod:
            code = "UNSUPPORTED_DID_METHOD"
            detail = "not_supported: this DID method is not supported"
        case .claim(let name): detail = "invalid_jwt: JWT \(name) is required"
        case .missing, .malformed: detail = "invalid_jwt: Incorrect format JWT"
        case .wrongSignature, .tooOld, .scope, .replayed:
            detail = "invalid_signature: no matching public key found"
        }
        return .json(
            400,
            ["error": ["message": .string("JWT failed verification: Error: \(detail)"), "code": .string(code)]]
        )
    }

    /// The bearer token, with a case-sensitive prefix, or the deprecated header; `nil` for an anonymous request.
    private static func token(of request: IncomingRequest) -> String? {
        var token: String?
        if let header = request.header("Authorization"), header.hasPrefix("Bearer ") {
            token = String(header.dropFirst("Bearer ".count))
        } else {
            token = request.header("Uport-Push-Token")
        }
        return token == "undefined" || token == "" ? nil : token
    }

    private static func route(_ call: APICall, from requester: Requester, _ state: inout MockState) -> Reply {
        switch (call.request.method, call.endpoint) {
        case ("POST", .plansChanged), ("GET", .plansChanged): changes(call, from: requester, &state)
        case ("GET", .plans):
            ClaimReport.plans(call.request, state, hidden: requester.did == nil, pageSize: pageSize)
        case ("GET", .claims): ClaimRow.report(call.request, from: requester, state, pageSize: pageSize)
        case ("GET", let endpoint) where ClaimReport.has(endpoint): offers(call, from: requester, state)
        default: .json(404, ["error": "Route not found"])
        }
    }

    /// The reports of offers and gifts, newest first. `hitLimit` is present only when it is true.
    private static func offers(_ call: APICall, from requester: Requester, _ state: MockState) -> Reply {
        let (request, endpoint) = (call.request, call.endpoint)
        let after = request.parameter("afterId") ?? ""
        let before = request.parameter("beforeId")
        guard let rows = ClaimReport.rows(call, from: requester, state) else {
            return .html(500, "<pre>SyntaxError: planIds is not valid JSON</pre>")
        }
        var page: [OfferRow] = []
        for offer in rows.reversed() where page.count < pageSize {
            guard offer.id > after, before.map({ offer.id < $0 }) ?? true else { continue }
            page.append(offer)
        }
        var body: JSONValue = ["data": .array(page.map { OfferJSON.value($0, endpoint, hidden: requester.did == nil) })]
        if page.count == pageSize { body["hitLimit"] = true }
        return .json(200, body)
    }
}

extension EndorserDialect {
    /// `plansLastUpdatedBetween`, by GET or POST.
    static func changes(_ call: APICall, from requester: Requester, _ state: inout MockState) -> Reply {
        let (request, violation) = (call.request, call.violation)
        let query: ChangesQuery
        if request.method == "GET" {
            guard let text = request.parameter("planIds") else {
                return badRequest("planIds JSONified array parameter is required")
            }
            guard let ids = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
                return badRequest("Invalid planIds format. Should be a JSON array of strings.")
            }
            query = ChangesQuery(
                planIDs: ids,
                afterID: request.parameter("afterId"),
                beforeID: request.parameter("beforeId")
            )
        } else {
            guard request.hasJSONBody, let parsed = state.query(of: request.body),
                parsed.problem?.field != "planIds"
            else { return badRequest("planIds array parameter is required") }
            query = parsed
        }
        // The order of the real checks: an empty array without afterId is a 400.
        guard let after = query.afterID, !after.isEmpty else { return badRequest("afterId parameter is required") }
        // A stuck page ignores the cursor.
        let before = violation == .stuckPage ? nil : query.beforeID
        let rows = state.log.descending(plans: query.planIDs, after: after, before: before, limit: pageSize)
        let hidden = requester.did == nil
        var page: JSONValue = [
            "data": .array(
                rows.map { row in
                    let before = state.log.version(of: row.plan.id, before: after)
                    return item(row, before: before, hidden: hidden, encoded: violation == nil)
                }
            ),
            "hitLimit": .bool(rows.count == pageSize),
        ]
        if let violation {
            PageViolation.apply(violation, to: &page, .init(dialect: .endorser, cursor: query.beforeID))
        }
        return .json(200, page)
    }

    private static func badRequest(_ text: String) -> Reply { .json(400, ["error": .string(text)]) }

    private static func item(_ row: ChangeRow, before: ChangeRow?, hidden: Bool, encoded: Bool) -> JSONValue {
        let planValue: JSONValue =
            encoded ? .encoded(hidden ? row.encodedHidden : row.encoded) : EndorserRow.plan(row, hidden: hidden)
        var item: JSONValue = ["plan": planValue]
        if let before { item["wrappedClaimBefore"] = .encoded(hidden ? before.claimHidden : before.claim) }
        return item
    }
}
