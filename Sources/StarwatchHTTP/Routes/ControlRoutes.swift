import FoundationEssentials
import Hummingbird
import ServiceLifecycle
import Starwatch
import StarwatchCore

/// The routes that change something, or that name people and projects: the verbs of ``ControlAPI``, and pages.
struct ControlRoutes: Sendable {
    let agent: any ServedAgent
    var settings = ServerSettings()
    /// Whether the routes are served on the Unix socket, which no other machine reaches.
    var isLocal = false

    /// A path that overlaps another comes after it.
    var table: [Route] {
        [
            Route("GET", "/api/v1/openapi.json") { _ in
                Answer(contentType: "application/json", body: APIDescription.json)
            },
            Route("GET", "/api/v1/notifications/events", events),
            Route("GET", "/feed", feedPage),
            feedDocument(.atom),
            feedDocument(.json),
            Route("GET", "/explain", storyPage),
        ]
            + (settings.feeds != nil && !isLocal
                ? FeedDocument.Format.allCases.map { feedDocument($0, at: "/feed/{token}") } : [])
            + ControlAPI.controls.map { route($0) }
    }

    private func route(_ verb: some AnyVerb) -> Route {
        Route(verb.verb, of: agent) { _ in
            // A key must not come from another machine.
            if let what = verb.verb.onSocketOnly, !isLocal {
                throw ControlError(.conflict, "\(what) through the control socket only.")
            }
        } finish: { answer, call in
            switch verb.verb.path {
            case ControlAPI.reload.path:
                // The server ends with the run, so another request on this connection would get no answer.
                answer.headers[.connection] = "close"
            case ControlAPI.runPoll.path where call.headers[.accept]?.contains("text/html") == true:
                // A person pressed the status page's button: show the page again.
                answer.status = 303
                answer.headers[.location] = "../../../../"
            default: break
            }
        }
    }

    /// Server-sent events, until the client or the agent ends the stream.
    private func events(_ call: Call) async throws -> Answer {
        var after = try Parameters(call.request.query, allowing: ["after"]).number("after")
        // A client that reconnects sends the last id. One that is not a number is not ours.
        if let last = call.headers[.lastEventID] { after = Parameters.number(last) ?? after }
        var answer = Answer(contentType: "text/event-stream", body: [])
        // A HEAD has no stream, so it must not take a reader.
        guard call.method != "HEAD" else { return answer }
        let reader = try await agent.followFeed(after: after, for: call.callerOfAccount())
        // An id without data tells the client only where to resume.
        answer.body = Array("retry: 2000\nid: \(reader.position)\n\n".utf8)
        answer.whenClosed = { reader.end() }
        answer.stream = {
            // A shutdown ends the wait for the next piece.
            await withGracefulShutdownHandler {
                Self.text(of: await reader.next())
            } onGracefulShutdown: {
                reader.end()
            }
        }
        return answer
    }

    private func feedPage(_ call: Call) async throws -> Answer {
        let status = try await agent.perform(ControlAPI.status)
        var page = FeedPage(entries: nil, times: PageTimes(of: status), catalogues: settings.catalogues)
        page.isOfMany = status.accounts != nil
        do throws(ControlError) {
            let caller = try call.callerOfAccount()
            page.entries = try await agent.perform(ControlAPI.listNotifications, NotificationQuery(), for: caller)
                .notifications
        } catch {
            guard error.kind == .conflict else { throw error }
        }
        return .page(page.frame, canControl: true, dashboards: settings.dashboards)
    }

    /// - Parameter folder: The part of the path before that of the format.
    private func feedDocument(_ format: FeedDocument.Format, at folder: String = "") -> Route {
        Route("GET", folder + format.path) { call in
            var query = NotificationQuery()
            query.before = try Parameters(call.request.query, allowing: ["before"]).number("before")
            query.limit = FeedDocument.pageLength + 1
            let listing = try await agent.perform(ControlAPI.listNotifications, query, for: call.callerOfAccount())
            let document = FeedDocument(
                format: format,
                entries: listing.notifications,
                before: query.before,
                hasPage: call.canBrowse,
                folder: call.folder,
                bits: listing.id,
                catalogues: settings.catalogues
            )
            return .feed(document, for: call)
        }
    }

    private func storyPage(_ call: Call) async throws -> Answer {
        let id = try Parameters(call.request.query, allowing: ["id"])["id"]
        let status = try await agent.perform(ControlAPI.status)
        var page = StoryPage(id: id, times: PageTimes(of: status))
        if let id, !id.isEmpty {
            do {
                page.story = try await agent.perform(ControlAPI.explain, id)
            } catch {
                guard error.kind == .notFound else { throw error }
                page.problem = error.message
            }
        }
        return .page(page.frame, canControl: true, dashboards: settings.dashboards)
    }
}

extension PageTimes {
    /// Times by the server's clock, as notifications and stories have them.
    fileprivate init(of status: AgentStatus) { self.init(now: status.clock.serverTime ?? status.now) }
}

extension ControlRoutes {
    /// The server-sent events of a step: some whole ones; `nil` at the end.
    private static func text(of step: FeedReader.Step) -> String? {
        switch step {
        case .notifications(let events):
            events.map { "id: \($0.sequence ?? 0)\nevent: \($0.name)\ndata: \($0.data)\n\n" }.joined()
        case .gap(let after, let before): "event: gap\ndata: {\"after\":\(after),\"before\":\(before)}\n\n"
        case .heartbeat: ": heartbeat\n\n"
        case .over: nil
        }
    }
}
