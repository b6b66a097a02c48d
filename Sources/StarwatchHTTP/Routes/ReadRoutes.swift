import Hummingbird
import Starwatch
import StarwatchTelemetry

/// The routes that change nothing and contain no personal data.
struct ReadRoutes: Sendable {
    let agent: any ServedAgent
    private let settings: ServerSettings
    /// `true` if the same server has the ``ControlRoutes``.
    private let canControl: Bool
    private let scrapes: ScrapeCache

    init(agent: any ServedAgent, settings: ServerSettings = ServerSettings(), canControl: Bool = false) {
        (self.agent, self.settings, self.canControl) = (agent, settings, canControl)
        scrapes = ScrapeCache(now: settings.now)
    }

    var table: [Route] {
        [
            Route("GET", "/") { _ in
                let status = try await agent.perform(ControlAPI.status)
                var shown = StatusPage(status: status, canControl: canControl)
                // The log is in the database, which does not answer in time.
                if !status.lacksStore {
                    shown.events = try? await agent.perform(ControlAPI.listLogs, StatusPage.eventQuery).lines
                }
                return page(shown.frame)
            },
            Route("GET", "/help") { _ in page(HelpPage(canControl: canControl).frame) },
            Route("GET", "/help/runbooks") { _ in page(Runbook.index) },
            Route("GET", "/help/runbooks/{name}") { call in try await runbook(call.request.arguments[0]) },
            Route("GET", "/metrics") { call in await metrics(call) },
            Route("GET", "/-/healthy") { _ in healthy(await agent.isHealthy()) },
            Route("GET", "/-/ready") { _ in ready(await agent.notReady()) },
            Route(ControlAPI.status, of: agent),
        ] + (canControl ? [] : [Route("GET", "/explain", storyElsewhere)])
    }

    private func storyElsewhere(_ call: Call) throws -> Answer {
        page(StoryPage.elsewhere(try Parameters(call.request.query, allowing: ["id"])["id"]))
    }

    private func page(_ frame: PageFrame) -> Answer {
        .page(frame, canControl: canControl, dashboards: settings.dashboards)
    }

    private func runbook(_ name: String) async throws -> Answer {
        if let runbook = Runbook.find(name) { return page(runbook.page(pages: await settings.pages())) }
        throw ControlError(.notFound, "There is no such runbook; /help/runbooks lists all.")
    }

    /// The size in bytes below which compressing costs more than it saves.
    private static let gzipMinimum = 4096

    private func metrics(_ call: Call) async -> Answer {
        var query = MetricsQuery()
        query.accept = call.headers[.accept]
        query.names = call.request.query.filter { $0.name == "name[]" }.map(\.value)
        if let text = call.headers[.scrapeTimeout] {
            // Prometheus writes a decimal. A malformed one must not fail the scrape.
            if let seconds = Double(text), seconds > 0, seconds <= 86_400 { query.scrapeTimeout = .seconds(seconds) }
        }
        let page = await scrapes.page(for: query) { await agent.metrics($0) }
        let metrics = page.answer
        var answer = Answer(status: metrics.status, contentType: metrics.contentType, body: metrics.body)
        answer.headers[.vary] = "Accept, Accept-Encoding"
        if metrics.body.count >= Self.gzipMinimum, ContentNegotiation.acceptsGzip(call.headers[.acceptEncoding]),
            let compressed = page.compressed
        {
            answer.body = compressed
            answer.headers[.contentEncoding] = "gzip"
        }
        return answer
    }

    private func healthy(_ isHealthy: Bool) -> Answer {
        .json(HealthyAnswer(healthy: isHealthy), status: isHealthy ? 200 : 503)
    }

    private func ready(_ reasons: [String]) -> Answer {
        var answer = ReadyAnswer(ready: reasons.isEmpty)
        if !reasons.isEmpty { answer.reasons = reasons }
        answer.databaseCheck = agent.databaseCheck
        return .json(answer, status: answer.ready ? 200 : 503)
    }
}
