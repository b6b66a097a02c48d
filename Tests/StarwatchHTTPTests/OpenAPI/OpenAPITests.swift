import Foundation
import NIOHTTP1
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// The document says what the routes do, and nothing else.
@Suite(.timeLimit(.minutes(5)))
struct OpenAPITests {
    private let document: OpenAPIDocument

    init() throws { document = try OpenAPIDocument(EmbeddedFile.openAPI) }

    private static let agent = FakeAgent()
    private static let table =
        ReadRoutes(agent: agent, canControl: true).table + ControlRoutes(agent: agent).table

    /// The Swift type of every schema; a schema without one says something that nothing holds it to.
    private static var types: [String: any Decodable.Type] {
        [
            "Error": ErrorBody.self, "Status": AgentStatus.self, "Healthy": HealthyAnswer.self,
            "Ready": ReadyAnswer.self,
            "PollReport": PollReport.self, "OutboxEntry": OutboxEntry.self, "OutboxListing": OutboxListing.self,
            "QuarantineEntry": QuarantineEntry.self, "QuarantineListing": QuarantineListing.self,
            "RowSelection": RowSelection.self, "DiscardSelection": DiscardSelection.self,
            "ChangeCount": ChangeCount.self, "IdentityReport": IdentityReport.self,
            "IdentityRemoval": IdentityRemoval.self, "IdentityRemovalReport": IdentityRemovalReport.self,
            "IdentityChange": IdentityChange.self, "StarsListing": StarsListing.self, "StarsChange": StarsChange.self,
            "StarsArchive": StarsArchive.self, "ReloadAnswer": ReloadAnswer.self,
            "SinkTestReport": SinkTestReport.self, "ServerWaitReport": ServerWaitReport.self,
            "Notification": NotificationMessage.self,
            "DigestReport": DigestReport.self, "DigestListing": DigestListing.self,
            "DigestFetchReport": DigestFetchReport.self, "DigestShowReport": DigestShowReport.self,
            "FeedEntry": FeedEntry.self, "FeedListing": FeedListing.self,
            "SentNotification": NotificationEntry.self, "SentListing": NotificationListing.self,
            "ActionReport": ActionReport.self, "Shortlink": ShortlinkReport.self,
            "Story": Story.self, "LogListing": LogListing.self,
            "IdentityErasureReport": IdentityErasureReport.self, "KeysReport": KeysReport.self,
            "KeyVerification": KeyVerification.self, "MasterKeyChange": MasterKeyChange.self,
            "SigningKey": KeysReport.SigningKey.self, "SigningKeyReport": SigningKeyReport.self,
            "SigningKeyImport": SigningKeyImport.self, "SigningKeyRotation": SigningKeyRotation.self,
            "SigningKeyRevocation": SigningKeyRevocation.self,
        ]
    }

    @Test func everyRouteIsDescribedAndNothingElseIs() {
        let routes = Self.table.map { "\($0.method) \($0.path)" }
        #expect(Set(routes).count == routes.count)
        #expect(routes.sorted() == document.operations.keys.sorted())
    }

    @Test func aRouteThatOverlapsAnotherComesAfterIt() {
        for route in Self.table {
            let path = route.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            #expect(Self.table.first { $0.arguments(in: path) != nil }?.path == route.path)
        }
    }

    @Test func everySchemaIsATypesAndHasItsFields() throws {
        #expect(Self.types.keys.sorted() == document.schemas.keys.sorted())
        for (name, type) in Self.types {
            let probe = try SchemaProbe(type)
            #expect(document.differences(probe, document.schemas[name], at: name) == [])
        }
    }

    @Test func everyKindOfErrorIsDescribed() throws {
        let error = document.resolved(document.schemas["Error"])
        let kind =
            ((error["properties"] as? [String: Any])?["error"] as? [String: Any])?["properties"] as? [String: Any]
        let words = try #require((kind?["kind"] as? [String: Any])?["enum"] as? [String])
        for known in ControlError.Kind.answered { #expect(words.contains(known.rawValue)) }
    }

    @Test func everyOperationSaysWhoMayNotAndHasAnExample() {
        for (name, operation) in document.operations {
            let answers = operation["responses"] as? [String: Any] ?? [:]
            for status in ["401", "403", "500"] { #expect(answers[status] != nil, "\(name) \(status)") }
            for (status, answer) in answers {
                guard let content = document.content(answer), !name.hasSuffix("openapi.json") || status != "200" else {
                    continue
                }
                guard name != "POST /api/v1/polls/{name}/run" || status != "303" else { continue }
                #expect(content["example"] != nil, "\(name) \(status)")
            }
            if operation["requestBody"] != nil {
                #expect(document.content(operation["requestBody"])?["example"] != nil)
            }
        }
    }

    @Test func everyExampleFitsItsSchema() {
        var count = 0
        for (name, operation) in document.operations {
            let bodies = (operation["responses"] as? [String: Any] ?? [:]).values + [operation["requestBody"] as Any]
            for content in bodies.compactMap(document.content) {
                guard let example = content["example"] else { continue }
                count += 1
                let problems = document.problems(of: example, in: content["schema"])
                #expect(problems == [], "\(name)")
            }
        }
        #expect(count > 40)
    }

    /// Each operation with its own example, and then one that the agent refuses.
    @Test(arguments: [nil, ControlError(.failed, "No."), ControlError(.conflict, "No.")])
    func everyAnswerIsAsDescribed(failure: ControlError?) async throws {
        let agent = FakeAgent { state in
            state.failure = failure
            state.status = StatusPageTests.degraded
            state.notReady = ["starting"]
            state.databaseCheck = "running"
            state.feedIsOver = true
        }
        try await withDirectory { directory in
            let server = ControlServer(agent: agent, socketPath: directory + "/s.sock", logger: quiet)
            try await withRunning(server) { address in
                let probe = HTTPProbe(address: address)
                for (name, operation) in document.operations {
                    let (method, path) = (name.prefix { $0 != " " }, name.drop { $0 != " " }.dropFirst())
                    let isRunbook = path.hasPrefix("/help/runbooks/")
                    let target = path.replacing("{name}", with: isRunbook ? "StarwatchPollStale" : "starred_projects")
                        .replacing("{id}", with: "1")
                        .replacing("{action}", with: "dismiss")
                    let body = document.content(operation["requestBody"])?["example"]
                    let text = try body.map {
                        String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
                    }
                    let reply = try await probe.send(.init(rawValue: String(method)), String(target), body: text ?? "")
                    // Here everything fits the state of nobody; the agent says so only where it can be.
                    if reply.status == 409, (operation["responses"] as? [String: Any])?["409"] == nil { continue }
                    let described = document.resolved((operation["responses"] as? [String: Any])?[String(reply.status)])
                    let contents = try #require(
                        described["content"] as? [String: Any],
                        "\(name) answers \(reply.status)"
                    )
                    let type = reply.headers["Content-Type"].first?.split(separator: ";").first.map(String.init) ?? ""
                    #expect(contents[type] != nil, "\(name) answers \(type)")
                    guard type == "application/json" else { continue }
                    let value = try JSONSerialization.jsonObject(with: Data(reply.bytes))
                    let problems = document.problems(of: value, in: (contents[type] as? [String: Any])?["schema"])
                    #expect(problems == [], "\(name)")
                }
            }
        }
    }

    @Test func theDocumentIsServedWhereControlIsAndOnlyThere() async throws {
        let open = try await withAdmin(FakeAgent()) { try await $0.get("/api/v1/openapi.json") }
        #expect(open.status == 404)
        try await withDirectory { directory in
            let server = ControlServer(agent: FakeAgent(), socketPath: directory + "/s.sock", logger: quiet)
            try await withRunning(server) {
                let reply = try await HTTPProbe(address: $0).get("/api/v1/openapi.json")
                #expect(reply.status == 200)
                #expect(reply.headers["Content-Type"] == ["application/json"])
                #expect(reply.bytes == EmbeddedFile.openAPI)
            }
        }
    }
}
