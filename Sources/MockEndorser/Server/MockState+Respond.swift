import Foundation

extension MockState {
    /// Returns the response to a request, with its fault applied.
    mutating func respond(to request: IncomingRequest) -> Reply {
        if request.path.hasPrefix("/mock/") { return ControlRoutes.respond(to: request, &self) }
        let now = options.now()
        log.reveal(at: now)
        let endpoint = others.lists[request.path] == nil ? MockEndpoint(path: request.path) : .list
        let recorded = request.recorded(as: endpoint, at: now)
        let fault = faults.take(for: endpoint)
        var call = APICall(request: request, endpoint: endpoint)
        if case .schemaViolation(let kind) = fault { call.violation = kind }
        var reply = replace(fault, request, endpoint) ?? answer(call)
        reply.add(fault)
        reply.delay += options.latency
        addCommonHeaders(to: &reply)
        // Last, so that a task that waits for the request sees its effects.
        requests.record(recorded)
        return reply
    }

    /// The regular response, with a schema violation if the fault is one.
    private mutating func answer(_ call: APICall) -> Reply {
        switch call.endpoint {
        case .hook: return hooks.receive(call.request, now: options.now())
        case .content:
            var reply = Reply.json(200, .encoded(Array(others.digest.utf8)))
            reply.addETag(for: call.request)
            return reply
        case .callback: return Reply(status: 204)
        case .list:
            if let list = others.lists[call.request.path] { return list.respond(to: call.request) }
        default: break
        }
        return switch options.dialect {
        case .canonical: CanonicalDialect.respond(to: call, &self)
        case .endorser: EndorserDialect.respond(to: call, &self)
        }
    }

    /// The response of a fault that replaces the request's execution; `nil` for other faults and for none.
    private mutating func replace(_ fault: MockFault?, _ request: IncomingRequest, _ endpoint: MockEndpoint) -> Reply? {
        switch fault {
        case .status(let code, let headers, let body):
            return scripted(code, headers: headers, body: body)
        case .resetBeforeHead: return Reply(status: 200, delivery: .reset(headFirst: false, bodyBytes: 0))
        case .neverAnswer: return Reply(status: 200, delivery: .never)
        case .malformedJSON where endpoint == .hook, .oversizedBody where endpoint == .hook:
            // The body of a receiver's response does not matter: the notification counts as received.
            return hooks.receive(request, now: options.now())
        case .malformedJSON:
            return Reply.json(200, .encoded(Array("{\"data\":[{\"planSummary\":{\"jwtId\":\"17".utf8)))
        case .oversizedBody(let bytes, gzip: true, let declaresLength):
            var reply = Reply.json(200, .encoded(faults.bomb(unpackedBytes: bytes)))
            reply.headers.append(("Content-Encoding", "gzip"))
            if !declaresLength { reply.delivery = .chunked }
            return reply
        case .oversizedBody(let bytes, gzip: false, let declaresLength):
            var reply = Reply.json(200, .encoded([]))
            reply.delivery = .filler(bytes: bytes, declaresLength: declaresLength)
            return reply
        case .raw(let bytes, let ending):
            return Reply(status: 200, body: bytes, delivery: .raw(then: ending))
        case .redirect(let target):
            return Reply(status: 307, headers: [("Location", target)])
        case .rateLimited(let retryAfter):
            return CanonicalDialect.rateLimited(retryAfter: headerText(retryAfter), resetAt: serverNow + 60, &self)
        case .authenticationFailure:
            return options.dialect == .canonical
                ? CanonicalDialect.failure(.expired(at: Int(serverNow) - 300), &self)
                : EndorserDialect.failure(.expired(at: Int(serverNow) - 301), now: serverNow)
        case nil, .delay, .dripBody, .resetMidBody, .unreadableItem, .schemaViolation, .commitThenReset: return nil
        }
    }

    private func headerText(_ retryAfter: MockRetryAfter?) -> String? {
        switch retryAfter {
        case nil: nil
        case .seconds(let seconds): String(seconds)
        case .date(let wait, let form): ClockText.http(Int((serverNow + wait.inSeconds).rounded(.up)), form)
        case .text(let text): text
        }
    }

    private func addCommonHeaders(to reply: inout Reply) {
        let now = serverNow + options.headerSkew.inSeconds
        reply.headers.append(("Date", ClockText.http(Int(now.rounded(.down)))))
        switch options.dialect {
        case .canonical:
            reply.headers.append(("X-Server-Time", String(Int((now * 1000).rounded(.down)))))
            reply.headers += CanonicalDialect.corsHeaders
        case .endorser:
            reply.headers.append(("Access-Control-Allow-Origin", "*"))
        }
    }
}

extension MockState {
    /// The response of a scripted status. Each of `headers` replaces a header of the same name.
    ///
    /// - Parameter body: The body; `nil` for the dialect's own body of this status.
    private mutating func scripted(_ status: Int, headers: [String: String], body: String?) -> Reply {
        var reply = body.map { .json(status, .encoded(Array($0.utf8))) } ?? usual(status)
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            reply.headers.removeAll { $0.0.lowercased() == name.lowercased() }
            reply.headers.append((name, value))
        }
        return reply
    }

    private mutating func usual(_ status: Int) -> Reply {
        switch (options.dialect, status) {
        case (.canonical, 500):
            CanonicalDialect.error(
                500,
                "internal_server_error",
                "Database connection timeout",
                details: [("component", "database"), ("operation", "query_starred_projects")],
                in: &self
            )
        case (.canonical, 503):
            CanonicalDialect.error(
                503,
                "service_unavailable",
                "Service temporarily unavailable for maintenance",
                in: &self
            )
        case (.canonical, _): CanonicalDialect.error(status, "scripted", "Scripted answer", in: &self)
        case (.endorser, 500): .json(500, "Error: SQLITE_BUSY: database is locked")
        // The proxy in front of the real server sends these.
        case (.endorser, 502...504):
            .html(status, "<html><body><h1>\(status)</h1>\nThe server is not available.\n</body></html>\n")
        case (.endorser, _): .json(status, ["error": "Scripted answer"])
        }
    }
}
