import Hummingbird
import Starwatch
import StarwatchCore

/// The routes that change something, or that name people and projects: a line or two for each verb.
struct ControlRoutes: Sendable {
    let agent: any ServedAgent
    /// The URL of the dashboards, which the feed's page links to.
    var dashboards: String?
    /// Whether the routes are served on the Unix socket, which no other machine reaches.
    var isLocal = false

    /// A path that overlaps another comes after it.
    var table: [Route] {
        agentRoutes + outbox + quarantine + identity + keys + digests + feed + notifications + stories
    }

    private var agentRoutes: [Route] {
        [
            Route("GET", "/api/v1/openapi.json") { _ throws(ControlError) in
                Answer(contentType: "application/json", body: EmbeddedFile.openAPI)
            },
            Route("POST", "/api/v1/polls/{name}/run") { call throws(ControlError) in try await runPoll(call) },
            .json("POST", "/api/v1/polls/{name}/try") { call throws(ControlError) in
                try await agent.tryPoll(call.arguments[0])
            },
            .json("POST", "/api/v1/sinks/{name}/test") { call throws(ControlError) in
                try await agent.testSink(call.arguments[0])
            },
            .json("POST", "/api/v1/server/clear-wait") { _ throws(ControlError) in try await agent.clearServerWait() },
            Route("POST", "/api/v1/reload") { _ throws(ControlError) in
                try await agent.reload()
                var answer = Answer.json(ReloadAnswer(reloaded: true))
                // The server ends with the run, so another request on this connection would get no answer.
                answer.headers[.connection] = "close"
                return answer
            },
        ]
    }

    private var outbox: [Route] {
        [
            .json("GET", "/api/v1/outbox") { call throws(ControlError) in
                OutboxListing(entries: try await agent.outboxList(try OutboxQuery(call)))
            },
            .json("POST", "/api/v1/outbox/retry") { call throws(ControlError) in
                let selection = try RowSelection(call)
                guard let ids = selection.ids else {
                    return ChangeCount(changed: try await agent.outboxRetryAll(poll: selection.poll))
                }
                return ChangeCount(changed: try await agent.outboxRetry(ids))
            },
            .json("POST", "/api/v1/outbox/discard") { call throws(ControlError) in
                let selection = try DiscardSelection(call)
                guard let ids = selection.rows.ids else {
                    let (poll, state) = (selection.rows.poll, selection.state ?? .dead)
                    let count = try await agent.outboxDiscardAll(poll: poll, in: state)
                    return ChangeCount(changed: count)
                }
                return ChangeCount(changed: try await agent.outboxDiscard(ids))
            },
            .json("GET", "/api/v1/outbox/{id}") { call throws(ControlError) in
                guard let id = Parameters.number(call.arguments[0]) else {
                    throw ControlError(.invalid, "An outbox id is a number; see \"starwatch outbox list\".")
                }
                return try await agent.outboxShow(id)
            },
        ]
    }

    private var keys: [Route] {
        [
            .json("GET", "/api/v1/keys") { _ throws(ControlError) in try await agent.keys() },
            .json("POST", "/api/v1/keys/rotate") { _ throws(ControlError) in try await agent.rotateDataKeys() },
            .json("POST", "/api/v1/keys/verify") { _ throws(ControlError) in try await agent.verifyKeys() },
            .json("POST", "/api/v1/keys/master") { call throws(ControlError) in
                try requireSocket("The master key is changed")
                let change = try call.decoded(MasterKeyChange.self, form: "{\"key\": \"…\"}")
                return try await agent.changeMasterKey(to: change.key)
            },
            .json("POST", "/api/v1/keys/signing") { call throws(ControlError) in
                try requireSocket("A signing key is imported")
                let form = "{\"key\": \"…\"}, with \"kid\" for a name"
                return try await agent.importSigningKey(try call.decoded(SigningKeyImport.self, form: form))
            },
            .json("POST", "/api/v1/keys/signing/rotate") { call throws(ControlError) in
                try requireSocket("The signing key is rotated")
                let form = "{\"key\": \"…\"}, with \"emergency\": true in an emergency"
                return try await agent.rotateSigningKey(try call.decoded(SigningKeyRotation.self, form: form))
            },
            .json("POST", "/api/v1/keys/signing/revoke") { call throws(ControlError) in
                let form = "{\"kid\": \"…\"}, with \"force\": true for the active key"
                return try await agent.revokeSigningKey(try call.decoded(SigningKeyRevocation.self, form: form))
            },
        ]
    }

    /// Rejects a request with a key in it that could come from another machine.
    private func requireSocket(_ what: String) throws(ControlError) {
        guard !isLocal else { return }
        throw ControlError(.conflict, "\(what) through the control socket only.")
    }

    private var identity: [Route] {
        [
            .json("GET", "/api/v1/identity") { _ throws(ControlError) in try await agent.identity() },
            .json("PUT", "/api/v1/identity") { call throws(ControlError) in
                let form = "{\"did\": \"did:…\"} or {\"did\": null}"
                guard let text = try call.decoded(IdentityChange.self, form: form).did else {
                    return try await agent.setIdentity(nil)
                }
                return try await agent.setIdentity(try DID(control: text))
            },
            .json("POST", "/api/v1/identity/remove") { call throws(ControlError) in
                let text = try call.decoded(IdentityRemoval.self, form: "{\"did\": \"did:…\"}").did
                return try await agent.removeIdentity(try DID(control: text))
            },
            .json("POST", "/api/v1/identity/erase") { call throws(ControlError) in
                let text = try call.decoded(IdentityRemoval.self, form: "{\"did\": \"did:…\"}").did
                return try await agent.eraseIdentity(try DID(control: text))
            },
            .json("GET", "/api/v1/stars") { _ throws(ControlError) in try await agent.starsListing() },
            .json("POST", "/api/v1/stars") { call throws(ControlError) in
                let form =
                    "{\"operation\": \"set\", \"plan_ids\": [\"…\"]}, with set, add, remove, restore, opt_out or opt_in"
                let change = try call.decoded(StarsChange.self, form: form)
                return StarsListing(planIDs: try await agent.changeStars(change))
            },
            .json("GET", "/api/v1/stars/archived") { _ throws(ControlError) in
                StarsArchive(archived: try await agent.archivedStars())
            },
        ]
    }

    private var digests: [Route] {
        [
            .json("GET", "/api/v1/digests") { _ throws(ControlError) in
                DigestListing(digests: try await agent.digests())
            },
            .json("POST", "/api/v1/digests/{name}/fetch") { call throws(ControlError) in
                try await agent.fetchDigest(call.arguments[0])
            },
            .json("POST", "/api/v1/digests/{name}/show") { call throws(ControlError) in
                try await agent.showDigest(call.arguments[0])
            },
        ]
    }

    private var notifications: [Route] {
        [
            .json("GET", "/api/v1/notifications/sent") { call throws(ControlError) in
                NotificationListing(notifications: try await agent.notificationList(try NotificationQuery(call)))
            },
            .json("GET", "/api/v1/notifications/{id}") { call throws(ControlError) in
                try await agent.notificationShow(call.arguments[0])
            },
            .json("POST", "/api/v1/notifications/{id}/actions/{action}") { call throws(ControlError) in
                guard let action = NotificationAction(rawValue: call.arguments[1]) else {
                    let names = NotificationAction.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ControlError(.invalid, "There is no such action; use one of \(names).")
                }
                return try await agent.notificationAct(call.arguments[0], action)
            },
            .json("GET", "/api/v1/shortlinks/{id}") { call throws(ControlError) in
                guard let shortlink = Shortlink(call.arguments[0]) else {
                    throw ControlError(.invalid, "A shortlink is 1 to 64 letters, digits, - and _.")
                }
                return try await agent.shortlinkShow(shortlink)
            },
        ]
    }

    /// A year, in seconds.
    private static let longestWithin: Int64 = 31_536_000

    private func runPoll(_ call: Call) async throws(ControlError) -> Answer {
        let seconds = try Parameters(call, allowing: ["unless_within"]).number("unless_within")
        if let seconds, !(1...Self.longestWithin).contains(seconds) {
            throw ControlError(.invalid, "unless_within must be from 1 to \(Self.longestWithin) seconds.")
        }
        let report = try await agent.runPoll(call.arguments[0], unlessWithin: seconds.map { .seconds($0) })
        guard call.headers[.accept]?.contains("text/html") == true else { return .json(report) }
        // A person pressed the status page's button: show the page again.
        var answer = Answer.json(report, status: 303)
        answer.headers[.location] = "../../../../"
        return answer
    }
}
