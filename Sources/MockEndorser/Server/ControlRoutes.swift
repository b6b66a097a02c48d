import Foundation

/// The `/mock/` paths, which control a mock in another process.
enum ControlRoutes {
    static func respond(to request: IncomingRequest, _ state: inout MockState) -> Reply {
        state.log.reveal(at: state.options.now())
        switch (request.method, request.path) {
        case ("GET", "/mock/state"): return stateReply(state)
        case ("GET", "/mock/plans"): return .json(200, ["plans": strings(state.catalogue.plans.map(\.id))])
        case ("GET", "/mock/hook"): return hookReply(state)
        case ("POST", "/mock/publish"): return publish(request, &state)
        case ("POST", "/mock/fault"): return fault(request, &state)
        case ("POST", "/mock/list"), ("DELETE", "/mock/list"): return list(request, &state)
        case ("POST", "/mock/skew"): return skew(request, &state)
        case ("POST", "/mock/clear-faults"):
            state.faults.clear()
            return .json(200, ["cleared": true])
        default: return .json(404, ["error": "There is no such control path."])
        }
    }

    private struct Publish: Decodable {
        var count: Int?
        var planIds: [String]?
        var offers: Int?
        var offerLink: String?
        var gives: Int?
        var recipientDid: String?
        var offeredByDid: String?
        var ageSeconds: Double?
        var visibleAfterSeconds: Double?
    }

    private static func publish(_ request: IncomingRequest, _ state: inout MockState) -> Reply {
        guard let body = decode(Publish.self, request) else { return badBody }
        let link = body.offerLink.map { MockOfferLink(rawValue: $0) }
        if case .some(nil) = link { return badBody }
        let age = Duration.seconds(body.ageSeconds ?? 0)
        let visibleAfter = Duration.seconds(body.visibleAfterSeconds ?? 0)
        var ids = (body.planIds ?? []).map { planID in
            state.publish(MockChange(planID: planID, age: age, visibleAfter: visibleAfter))
        }
        ids += state.publish(count: body.count ?? 0, age: age, visibleAfter: visibleAfter)
        let offers = state.publishOffers(
            count: body.offers ?? 0,
            to: body.recipientDid,
            by: body.offeredByDid,
            link: link ?? nil
        )
        let gives = state.publishGives(count: body.gives ?? 0, to: body.recipientDid, by: body.offeredByDid)
        return .json(200, ["ids": strings(ids), "offers": strings(offers), "gives": strings(gives)])
    }

    /// Puts the item of the body into the list of `path`, or removes the one of `id`.
    private static func list(_ request: IncomingRequest, _ state: inout MockState) -> Reply {
        guard let path = request.parameter("path"), state.others.lists[path] != nil else { return badBody }
        if request.method == "DELETE" {
            state.others.lists[path]?.remove(request.parameter("id") ?? "")
        } else {
            // Its keys stay as they are.
            guard let item = try? JSONDecoder().decode(JSONValue.self, from: Data(request.body)) else { return badBody }
            state.others.lists[path]?.put(item)
        }
        return .json(200, ["items": .integer(state.others.lists[path]?.items.count ?? 0)])
    }

    private static func skew(_ request: IncomingRequest, _ state: inout MockState) -> Reply {
        struct Skew: Decodable {
            var seconds: Double
        }
        guard let body = decode(Skew.self, request) else { return badBody }
        state.clockSkew = .seconds(body.seconds)
        return .json(200, ["seconds": .number(body.seconds)])
    }

    private static func fault(_ request: IncomingRequest, _ state: inout MockState) -> Reply {
        guard let body = decode(ControlFault.self, request), let endpoint = MockEndpoint(rawValue: body.endpoint),
            let fault = body.value
        else { return badBody }
        if body.sticky ?? false {
            state.faults.stick(fault, to: endpoint)
        } else {
            state.faults.enqueue(Array(repeating: fault, count: body.count ?? 1), for: endpoint)
        }
        return .json(200, ["remaining": .integer(state.faults.remaining(for: endpoint))])
    }

    private static func stateReply(_ state: MockState) -> Reply {
        let counts = MockEndpoint.allCases.map {
            ($0.rawValue, JSONValue.integer(state.requests.counts[$0] ?? 0))
        }
        return .json(
            200,
            [
                "dialect": .string(state.options.dialect.rawValue),
                "published": strings(state.log.publishedIDs),
                "offers": strings(state.offers.map(\.id)),
                "gives": strings(state.gives.map(\.id)),
                "acknowledged": strings(state.book.order),
                "acknowledgements_applied": .integer(state.book.applied),
                "requests": .object(counts),
                "clock_skew_seconds": .number(state.clockSkew.inSeconds),
                "random_faults": .object(
                    state.faults.random.counts.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.integer($0.value)) }
                ),
            ]
        )
    }

    private static func hookReply(_ state: MockState) -> Reply {
        let notifications = state.hooks.notifications.map { notification -> JSONValue in
            [
                "webhook_id": .string(notification.id), "sha256": .string(notification.sha256),
                "jwt_ids": strings(notification.jwtIDs), "deliveries": .integer(notification.bodies.count),
                "bodies_agree": .bool(notification.bodiesAgree),
            ]
        }
        return .json(200, ["notifications": .array(notifications), "refused": .integer(state.hooks.refused)])
    }

    private static var badBody: Reply {
        .json(400, ["error": "The body is invalid for this path: check its keys and values."])
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    private static func decode<T: Decodable>(_ type: T.Type, _ request: IncomingRequest) -> T? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try? decoder.decode(type, from: Data(request.body))
    }
}

/// The body of `POST /mock/fault`, with keys in snake case.
struct ControlFault: Decodable {
    /// The raw value of a ``MockEndpoint``.
    var endpoint: String
    /// `status`, `delay`, `drip_body`, `reset_before_head`, `reset_mid_body`, `never_answer`, `malformed_json`,
    /// `schema_violation`, `oversized_body`, `redirect`, `rate_limited`, `commit_then_reset`,
    /// `authentication_failure`.
    var fault: String
    /// Whether the fault applies to all requests; by default it applies to the next ``count`` requests.
    var sticky: Bool?
    /// Number of requests; 1 by default.
    var count: Int?
    var status: Int?
    var headers: [String: String]?
    var body: String?
    /// Length of a `delay`.
    var seconds: Double?
    var chunkBytes: Int?
    var everyMs: Int?
    var afterBytes: Int?
    /// The raw value of a ``MockSchemaViolation``.
    var kind: String?
    var bytes: Int?
    var gzip: Bool?
    var declaresLength: Bool?
    /// Target of a `redirect`.
    var to: String?
    /// The text of `Retry-After`.
    var retryAfter: String?
    /// Sends a date as `Retry-After`, this many seconds after the mock's time.
    var retryAfterDateIn: Double?
    /// The format of that date, the raw value of an ``HTTPDateForm``.
    var form: String?

    /// The fault; `nil` if a required field is missing or unknown.
    var value: MockFault? {
        switch fault {
        case "status": status.map { .status($0, headers: headers ?? [:], body: body) }
        case "delay": seconds.map { .delay(.seconds($0)) }
        case "drip_body": .dripBody(chunkBytes: chunkBytes ?? 1, every: .milliseconds(everyMs ?? 10))
        case "reset_before_head": .resetBeforeHead
        case "reset_mid_body": .resetMidBody(afterBytes: afterBytes ?? 1)
        case "never_answer": .neverAnswer
        case "malformed_json": .malformedJSON
        case "schema_violation": kind.flatMap(MockSchemaViolation.init(rawValue:)).map { .schemaViolation($0) }
        case "oversized_body":
            bytes.map { .oversizedBody(bytes: $0, gzip: gzip ?? false, declaresLength: declaresLength ?? false) }
        case "redirect": to.map { .redirect(to: $0) }
        case "rate_limited": .rateLimited(retryAfter: retryAfterValue)
        case "commit_then_reset": .commitThenReset
        case "authentication_failure": .authenticationFailure
        default: nil
        }
    }

    private var retryAfterValue: MockRetryAfter? {
        if let seconds = retryAfterDateIn {
            return .date(in: .seconds(seconds), form: form.flatMap(HTTPDateForm.init(rawValue:)) ?? .imfFixdate)
        }
        return retryAfter.map { .text($0) }
    }
}
