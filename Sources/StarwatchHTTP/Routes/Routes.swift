import Hummingbird
import Starwatch
import StarwatchCore
import StarwatchTelemetry

/// The routes that change nothing and say nothing about people.
struct ReadRoutes: Sendable {
    let agent: any AgentControl
    /// Where the dashboards are, for the page's link.
    var dashboards: String?
    /// Whether the same server has the ``ControlRoutes``.
    var canControl = false

    var table: [Route] {
        [
            Route("/", ["GET": { _ throws(ControlError) in await statusPage() }]),
            Route("/help", ["GET": { _ throws(ControlError) in helpPage }]),
            Route("/metrics", ["GET": { call throws(ControlError) in try await metrics(call) }]),
            Route("/-/healthy", ["GET": { _ throws(ControlError) in healthy(await agent.isHealthy()) }]),
            Route("/-/ready", ["GET": { _ throws(ControlError) in ready(await agent.notReady()) }]),
            Route("/api/v1/status", ["GET": { _ throws(ControlError) in .json(await agent.status()) }]),
        ]
    }

    private func statusPage() async -> Answer {
        let status = await agent.status()
        return .page(canControl: canControl) {
            StatusPage(status: status, canControl: canControl, dashboards: dashboards).html(nonce: $0)
        }
    }

    private var helpPage: Answer {
        .page(canControl: canControl) {
            HelpPage(canControl: canControl, dashboards: dashboards).html(nonce: $0)
        }
    }

    private func metrics(_ call: Call) async throws(ControlError) -> Answer {
        var query = MetricsQuery()
        query.accept = call.headers[.accept]
        query.names = call.query.filter { $0.name == "name[]" }.map(\.value)
        if let text = call.headers[.scrapeTimeout] {
            // Prometheus writes a decimal; whatever else it is, the scrape is not worth failing for it.
            if let seconds = Double(text), seconds > 0, seconds <= 86_400 { query.scrapeTimeout = .seconds(seconds) }
        }
        let metrics = await agent.metrics(query)
        var answer = Answer(status: metrics.status, contentType: metrics.contentType, body: metrics.body)
        answer.headers[.vary] = "Accept, Accept-Encoding"
        if metrics.body.count >= Self.gzipMinimum, ContentNegotiation.acceptsGzip(call.headers[.acceptEncoding]),
            let compressed = Gzip.compress(metrics.body)
        {
            answer.body = compressed
            answer.headers[.contentEncoding] = "gzip"
        }
        return answer
    }

    /// The size in bytes below which compressing costs more than it saves.
    private static let gzipMinimum = 4096

    private func healthy(_ isHealthy: Bool) -> Answer {
        .json(HealthyAnswer(healthy: isHealthy), status: isHealthy ? 200 : 503)
    }

    private func ready(_ reasons: [String]) -> Answer {
        reasons.isEmpty
            ? .json(ReadyAnswer(ready: true))
            : .json(ReadyAnswer(ready: false, reasons: reasons), status: 503)
    }
}

/// The routes that change something, or that name people and projects.
struct ControlRoutes: Sendable {
    let agent: any AgentControl
    /// Where the dashboards are, for the feed's link.
    var dashboards: String?

    var table: [Route] {
        [
            Route("/api/v1/openapi.json", openAPI),
            Route("/api/v1/outbox", outboxListing),
            Route("/api/v1/outbox/retry", outboxRetry),
            Route("/api/v1/outbox/discard", outboxDiscard),
            Route("/api/v1/outbox/{id}") { outboxRow($0[0]) },
            Route("/api/v1/identity", identity),
            Route("/api/v1/identity/remove", removeIdentity),
            Route("/api/v1/stars", stars),
            Route("/api/v1/stars/archived", archivedStars),
            Route("/api/v1/digests", digests),
            Route("/api/v1/digests/{name}/fetch") { fetchDigest($0[0]) },
            Route("/api/v1/digests/{name}/show") { showDigest($0[0]) },
            Route("/api/v1/reload", reload),
            Route("/api/v1/polls/{name}/run") { run($0[0]) },
        ] + feed + notifications
    }

    private var openAPI: Handlers {
        [
            "GET": { _ throws(ControlError) in
                Answer(contentType: "application/json", body: PackageResources.openapi_json)
            }
        ]
    }

    /// A year, in seconds.
    private static let longestWithin: Int64 = 31_536_000

    private func run(_ name: String) -> Handlers {
        [
            "POST": { call throws(ControlError) in
                let parameters = try Parameters(call, allowing: ["unless_within"])
                let seconds = try parameters.number("unless_within")
                if let seconds, !(1...Self.longestWithin).contains(seconds) {
                    throw ControlError(.invalid, "unless_within must be from 1 to \(Self.longestWithin) seconds.")
                }
                let report = try await agent.runPoll(name, unlessWithin: seconds.map { .seconds($0) })
                guard call.headers[.accept]?.contains("text/html") == true else { return .json(report) }
                // A person pressed the status page's button, and wants to see the page.
                var answer = Answer.json(report, status: 303)
                answer.headers[.location] = "../../../../"
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
        let parameters = try Parameters(call, allowing: ["state", "poll", "before", "limit"])
        var query = OutboxQuery()
        query.state = parameters["state"]
        query.poll = parameters["poll"]
        query.before = try parameters.number("before")
        query.limit = try parameters.number("limit").map { Int($0) } ?? query.limit
        return query
    }

    private func outboxRow(_ text: String) -> Handlers {
        [
            "GET": { _ throws(ControlError) in
                guard let id = Parameters.number(text) else {
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
        guard selection.ids?.allSatisfy({ $0 > 0 }) != false else {
            throw ControlError(.invalid, "An outbox id is a number from 1; see \"starwatch outbox list\".")
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

    private var removeIdentity: Handlers {
        [
            "POST": { call throws(ControlError) in
                guard let did = DID(try call.decoded(IdentityRemoval.self, form: "{\"did\": \"did:…\"}").did) else {
                    throw ControlError(.invalid, "That is not a DID; it has the form did:method:id.")
                }
                return .json(try await agent.removeIdentity(did))
            }
        ]
    }

    private var stars: Handlers {
        [
            "GET": { _ throws(ControlError) in .json(StarsListing(planIDs: try await agent.stars())) },
            "POST": { call throws(ControlError) in
                let form =
                    "{\"operation\": \"set\", \"plan_ids\": [\"…\"]}, with set, add, remove, restore, opt_out or opt_in"
                let change = try call.decoded(StarsChange.self, form: form)
                return .json(StarsListing(planIDs: try await agent.changeStars(change)))
            },
        ]
    }

    private var archivedStars: Handlers {
        ["GET": { _ throws(ControlError) in .json(StarsArchive(archived: try await agent.archivedStars())) }]
    }

    private var digests: Handlers {
        ["GET": { _ throws(ControlError) in .json(DigestListing(digests: try await agent.digests())) }]
    }

    private func fetchDigest(_ name: String) -> Handlers {
        ["POST": { _ throws(ControlError) in .json(try await agent.fetchDigest(name)) }]
    }

    private func showDigest(_ name: String) -> Handlers {
        ["POST": { _ throws(ControlError) in .json(try await agent.showDigest(name)) }]
    }

    private var reload: Handlers {
        [
            "POST": { _ throws(ControlError) in
                try await agent.reload()
                // The server goes too: who sent his next request on this connection would get no answer.
                var answer = Answer.json(ReloadAnswer(reloaded: true))
                answer.headers[.connection] = "close"
                return answer
            }
        ]
    }
}
