import Foundation

/// The server of the requirements (area EP): ascending pages, acknowledgements, a time endpoint.
enum CanonicalDialect {
    /// Limit of a page's rows.
    static let pageLimit = 100
    /// Limit of a request's plan identifiers.
    static let planIDLimit = 1000

    /// The CORS headers of the contract, extended by the headers that a browser client needs to read.
    static let corsHeaders: [(String, String)] = [
        (
            "Access-Control-Expose-Headers",
            "Retry-After, X-Request-ID, X-Rate-Limit-Limit, X-Rate-Limit-Remaining, X-Rate-Limit-Reset, ETag, "
                + "X-Server-Time"
        ),
        ("Access-Control-Allow-Origin", "https://timesafari.com"),
    ]

    /// Returns the response to an API request.
    static func respond(to call: APICall, _ state: inout MockState) -> Reply {
        let request = call.request
        if request.method == "OPTIONS" { return preflight }
        var reply: Reply
        do throws(TokenFailure) {
            let token = bearer(of: request)
            let requester = try state.verifier.verifyCanonical(token, now: state.serverNow)
            reply = limited(call, from: requester, &state)
        } catch {
            reply = failure(error, &state)
        }
        if let id = request.header("X-Request-ID") { reply.headers.append(("X-Request-ID", id)) }
        return reply
    }

    /// An error body.
    static func error(
        _ status: Int,
        _ code: String,
        _ message: String,
        details: [(String, JSONValue)] = [],
        in state: inout MockState
    ) -> Reply {
        .json(
            status,
            [
                "error": .string(code), "message": .string(message), "details": .object(details),
                "requestId": .string(state.nextRequestID()),
            ]
        )
    }

    /// The response to an invalid token: 401, or 403 for its scope.
    static func failure(_ failure: TokenFailure, _ state: inout MockState) -> Reply {
        let now = ClockText.iso(Int(state.serverNow))
        var details: [(String, JSONValue)] = [("currentTime", .string(now))]
        let message: String
        switch failure {
        case .scope(let scope):
            return error(
                403,
                "forbidden",
                "Insufficient permissions to access starred projects",
                details: [("requiredScope", "notifications"), ("userScope", .string(scope))],
                in: &state
            )
        case .missing: message = "JWT token missing"
        case .expired(let expiry):
            message = "JWT token expired"
            details.insert(("expiredAt", .string(ClockText.iso(expiry))), at: 0)
        case .tooOld: message = "JWT token too old"
        case .issuedInFuture, .notYetValid: message = "JWT token not valid yet"
        case .wrongAudience: message = "JWT token has the wrong audience"
        case .claim(let name): message = "JWT token lacks a valid \(name)"
        case .replayed: message = "JWT token was already used"
        case .malformed, .unsupportedAlgorithm, .unsupportedMethod, .wrongSignature: message = "JWT token invalid"
        }
        return error(401, "unauthorized", message, details: details, in: &state)
    }

    /// The answer beyond a rate limit: 429.
    static func rateLimited(retryAfter: String?, resetAt: Double, _ state: inout MockState) -> Reply {
        let limit = state.options.requestsPerMinute ?? 100
        var body: JSONValue = [
            "error": "Rate limit exceeded", "code": "RATE_LIMIT_EXCEEDED", "message": "Rate limit exceeded for DID",
            "details": [
                "limit": .integer(limit), "window": "1m",
                "resetAt": .string(ClockText.iso(Int(resetAt.rounded(.up)))),
            ],
        ]
        if let seconds = retryAfter.flatMap({ Int($0) }) { body["retryAfter"] = .integer(seconds) }
        body["requestId"] = .string(state.nextRequestID())
        var reply = Reply.json(429, body)
        if let retryAfter { reply.headers.append(("Retry-After", retryAfter)) }
        reply.headers += [
            ("X-Rate-Limit-Limit", String(limit)), ("X-Rate-Limit-Remaining", "0"),
            ("X-Rate-Limit-Reset", String(Int(resetAt.rounded(.up)))),
        ]
        return reply
    }

    private static var preflight: Reply {
        Reply(
            status: 204,
            headers: [
                ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
                (
                    "Access-Control-Allow-Headers",
                    "Authorization, Content-Type, X-Request-ID, X-Client-Version, X-Idempotency-Key"
                ),
            ]
        )
    }

    private static func bearer(of request: IncomingRequest) -> String? {
        guard let header = request.header("Authorization"), header.lowercased().hasPrefix("bearer ") else { return nil }
        return String(header.dropFirst("bearer ".count))
    }

    /// Applies the rate limit, then the size limit, then calls the endpoint.
    private static func limited(_ call: APICall, from requester: Requester, _ state: inout MockState) -> Reply {
        var rateHeaders: [(String, String)] = []
        if let limit = state.options.requestsPerMinute {
            let now = state.options.now()
            let key = requester.did ?? ""
            let left = state.limits.requests[key, default: SlidingWindow()].take(of: limit, at: now)
            let free = state.limits.requests[key]?.nextFree(at: now) ?? now
            let wait = free.timeIntervalSince(now)
            guard let left else {
                return rateLimited(retryAfter: String(Int(wait.rounded(.up))), resetAt: state.serverNow + wait, &state)
            }
            rateHeaders = [
                ("X-Rate-Limit-Limit", String(limit)), ("X-Rate-Limit-Remaining", String(left)),
                ("X-Rate-Limit-Reset", String(Int((state.serverNow + wait).rounded(.up)))),
            ]
        }
        var reply: Reply
        if call.request.isBodyTooLong {
            reply = error(
                413,
                "payload_too_large",
                "Request body exceeds the limit",
                details: [("limit", .integer(state.options.bodyLimitBytes))],
                in: &state
            )
        } else {
            reply = route(call, from: requester, &state)
        }
        reply.headers += rateHeaders
        return reply
    }

    private static func route(_ call: APICall, from requester: Requester, _ state: inout MockState) -> Reply {
        let (request, endpoint) = (call.request, call.endpoint)
        if request.method == "POST", !request.hasJSONBody, endpoint == .plansChanged || endpoint == .acknowledge {
            return error(
                415,
                "unsupported_media_type",
                "Content-Type must be application/json",
                details: [("received", JSONValue(request.header("Content-Type")))],
                in: &state
            )
        }
        switch (request.method, endpoint) {
        case ("POST", .plansChanged): return changes(call, &state)
        case ("POST", .acknowledge): return acknowledge(request, requester, &state)
        case ("GET", .time): return .json(200, ["serverTime": .string(ClockText.iso(Int(state.serverNow)))])
        case ("GET", .plans): return ClaimReport.plans(request, state, hidden: false, pageSize: pageLimit)
        case ("GET", _) where ClaimReport.has(endpoint): return offers(call, from: requester, &state)
        default:
            return error(404, "not_found", "No such endpoint", details: [("path", .string(request.path))], in: &state)
        }
    }
}
