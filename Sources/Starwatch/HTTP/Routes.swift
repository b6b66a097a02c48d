import StarwatchCore

/// What a path can do, by method; `HEAD` is `GET` without the body.
typealias Handlers = [String: @Sendable (Call) async throws(ControlError) -> Answer]

/// The routes that change nothing and say nothing about people.
struct ReadRoutes: Sendable {
    let agent: any AgentControl
    /// Where the dashboards are, for the page's link.
    var dashboards: String?
    /// Whether the same server has the ``ControlRoutes``.
    var canControl = false

    /// `nil`: there is no such path.
    func handlers(for path: [String]) -> Handlers? {
        switch path {
        case [""]:
            [
                "GET": { _ throws(ControlError) in
                    html(StatusPage(status: await agent.status(), canControl: canControl, dashboards: dashboards).html)
                }
            ]
        case ["help"]: ["GET": { _ throws(ControlError) in html(HelpPage(dashboards: dashboards).html) }]
        case ["metrics"]: ["GET": { call throws(ControlError) in try await metrics(call) }]
        case ["-", "healthy"]: ["GET": { _ throws(ControlError) in healthy(await agent.isHealthy()) }]
        case ["-", "ready"]: ["GET": { _ throws(ControlError) in ready(await agent.notReady()) }]
        case ["api", "v1", "status"]: ["GET": { _ throws(ControlError) in .json(await agent.status()) }]
        default: nil
        }
    }

    private func metrics(_ call: Call) async throws(ControlError) -> Answer {
        var query = MetricsQuery()
        query.accept = call.headers["accept"]
        query.acceptEncoding = call.headers["accept-encoding"]
        query.names = call.query.filter { $0.name == "name[]" }.map(\.value)
        if let text = call.headers["x-prometheus-scrape-timeout-seconds"] {
            // Prometheus writes a decimal; whatever else it is, the scrape is not worth failing for it.
            if let seconds = Double(text), seconds > 0, seconds <= 86_400 { query.scrapeTimeout = .seconds(seconds) }
        }
        let metrics = await agent.metrics(query)
        var answer = Answer(status: metrics.status, contentType: metrics.contentType, body: metrics.body)
        answer.headers["Vary"] = "Accept, Accept-Encoding"
        answer.headers["Content-Encoding"] = metrics.contentEncoding
        return answer
    }

    private func healthy(_ isHealthy: Bool) -> Answer {
        .json(HealthyAnswer(healthy: isHealthy), status: isHealthy ? 200 : 503)
    }

    private func ready(_ reasons: [String]) -> Answer {
        reasons.isEmpty
            ? .json(ReadyAnswer(ready: true))
            : .json(ReadyAnswer(ready: false, reasons: reasons), status: 503)
    }

    /// A page whose own style and script may run, and no other.
    private func html(_ page: (_ nonce: String) -> HTML) -> Answer {
        var random = SystemRandomNumberGenerator()
        let nonce = String(random.next(), radix: 36) + String(random.next(), radix: 36)
        var answer = Answer(contentType: "text/html; charset=utf-8", body: Array(page(nonce).text.utf8))
        answer.headers["Content-Security-Policy"] =
            "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; img-src data:; "
            + "base-uri 'none'; form-action '\(canControl ? "self" : "none")'; frame-ancestors 'none'"
        // Without a referrer a browser hides the form's origin too, which the control routes ask for.
        if canControl { answer.headers["Referrer-Policy"] = "same-origin" }
        return answer
    }
}

/// The routes that change something, or that name people and projects.
struct ControlRoutes: Sendable {
    let agent: any AgentControl

    /// `nil`: there is no such path.
    func handlers(for path: [String]) -> Handlers? {
        guard path.starts(with: ["api", "v1"]) else { return nil }
        switch Array(path.dropFirst(2)) {
        case ["outbox"]: return outboxListing
        case ["outbox", "retry"]: return outboxRetry
        case ["outbox", "discard"]: return outboxDiscard
        case ["identity"]: return identity
        case ["stars"]: return stars
        case ["stars", "archived"]: return archivedStars
        case ["reload"]: return reload
        case let rest where rest.count == 3 && rest[0] == "polls" && rest[2] == "run": return run(rest[1])
        case let rest where rest.count == 2 && rest[0] == "outbox": return outboxRow(rest[1])
        default: return nil
        }
    }

    private func run(_ name: String) -> Handlers {
        [
            "POST": { call throws(ControlError) in
                let report = try await agent.runPoll(name)
                guard call.headers["accept"]?.contains("text/html") == true else { return .json(report) }
                // A person pressed the status page's button, and wants to see the page.
                var answer = Answer.json(report, status: 303)
                answer.headers["Location"] = "../../../../"
                return answer
            }
        ]
    }

    private var outboxListing: Handlers {
        [
            "GET": { call throws(ControlError) in
                return .json(OutboxListing(entries: try await agent.outboxList(query(call))))
            }
        ]
    }

    private func query(_ call: Call) throws(ControlError) -> OutboxQuery {
        func number<Value: LosslessStringConvertible>(_ name: String, _ type: Value.Type) throws(ControlError) -> Value?
        {
            guard let text = call.query.first(where: { $0.name == name })?.value else { return nil }
            guard let value = Value(text) else { throw ControlError(.invalid, "\(name) must be a whole number.") }
            return value
        }
        var query = OutboxQuery()
        query.state = call.query.first { $0.name == "state" }?.value
        query.poll = call.query.first { $0.name == "poll" }?.value
        query.before = try number("before", Int64.self)
        query.limit = try number("limit", Int.self) ?? query.limit
        return query
    }

    private func outboxRow(_ text: String) -> Handlers {
        [
            "GET": { _ throws(ControlError) in
                guard let id = Int64(text) else {
                    throw ControlError(.invalid, "An outbox id is a number; see \"starwatch outbox list\".")
                }
                return .json(try await agent.outboxShow(id))
            }
        ]
    }

    private var outboxRetry: Handlers {
        [
            "POST": { call throws(ControlError) in
                let selection = try selection(call)
                guard let ids = selection.ids else {
                    return .json(ChangeCount(changed: try await agent.outboxRetryAll(poll: selection.poll)))
                }
                return .json(ChangeCount(changed: try await agent.outboxRetry(ids)))
            }
        ]
    }

    private var outboxDiscard: Handlers {
        [
            "POST": { call throws(ControlError) in
                let selection = try selection(call)
                guard let ids = selection.ids else {
                    return .json(ChangeCount(changed: try await agent.outboxDiscardAll(poll: selection.poll)))
                }
                return .json(ChangeCount(changed: try await agent.outboxDiscard(ids)))
            }
        ]
    }

    private func selection(_ call: Call) throws(ControlError) -> RowSelection {
        let form = "{\"ids\": [1, 2]} or {\"all\": true, \"poll\": \"…\"}"
        let selection = try call.decoded(RowSelection.self, form: form)
        guard selection.ids?.isEmpty == false || selection.all == true else {
            throw ControlError(.invalid, "Name at least one outbox id, or all.")
        }
        guard selection.ids == nil || selection.all != true && selection.poll == nil else {
            throw ControlError(.invalid, "Name outbox ids or all, not both; poll goes with all.")
        }
        return selection
    }

    private var identity: Handlers {
        [
            "GET": { _ throws(ControlError) in .json(try await agent.identity()) },
            "PUT": { call throws(ControlError) in
                let form = "{\"did\": \"did:…\"} or {\"did\": null}"
                guard let text = try call.decoded(IdentityChange.self, form: form).did else {
                    return .json(try await agent.setIdentity(nil))
                }
                guard let did = DID(text) else {
                    throw ControlError(.invalid, "That is not a DID; it has the form did:method:id.")
                }
                return .json(try await agent.setIdentity(did))
            },
        ]
    }

    private var stars: Handlers {
        [
            "GET": { _ throws(ControlError) in .json(StarsListing(planIDs: try await agent.stars())) },
            "POST": { call throws(ControlError) in
                let form = "{\"operation\": \"set\", \"plan_ids\": [\"…\"]}, with set, add, remove or restore"
                let change = try call.decoded(StarsChange.self, form: form)
                return .json(StarsListing(planIDs: try await agent.changeStars(change)))
            },
        ]
    }

    private var archivedStars: Handlers {
        ["GET": { _ throws(ControlError) in .json(StarsArchive(archived: try await agent.archivedStars())) }]
    }

    private var reload: Handlers {
        [
            "POST": { _ throws(ControlError) in
                try await agent.reload()
                return .json(ReloadAnswer(reloaded: true))
            }
        ]
    }
}
