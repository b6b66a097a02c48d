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

    init() throws { document = try OpenAPIDocument(APIDescription.json) }

    private static let agent = FakeAgent()
    private static let table =
        ReadRoutes(agent: agent, canControl: true).table
        + ControlRoutes(agent: agent, settings: ServerSettings(feeds: .ofAccounts(agent))).table

    private static let verbs: [any AnyVerb] = [ControlAPI.status] + ControlAPI.controls

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

    @Test func everyVerbsQueryBodyAndAnswerHaveExamples() throws {
        for verb in Self.verbs { try checkExamples(of: verb) }
    }

    private func checkExamples<V: AnyVerb>(of one: V) throws {
        let verb = one.verb
        let name = "\(verb.method) \(verb.path)"
        let operation = try #require(document.operations[name])
        let parameters = (operation["parameters"] as? [Any] ?? []).map(document.resolved)
        let query = parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String }
        #expect(query.sorted() == verb.form.parameters.sorted(), "\(name)")
        let answer = try #require(document.content((operation["responses"] as? [String: Any])?["200"]), "\(name)")
        let example = try JSONSerialization.data(withJSONObject: try #require(answer["example"]), options: .sortedKeys)
        let value = try ControlJSON.decode(V.Answer.self, from: Array(example))
        #expect(try canonical(ControlJSON.encode(value)) == example, "the example of \(name) loses something")
        let body = document.content(operation["requestBody"])
        #expect((body == nil) == (verb.form.body == nil), "\(name)")
        guard let body else { return }
        let given = try JSONSerialization.data(withJSONObject: try #require(body["example"]), options: .sortedKeys)
        var request = ControlRequest()
        request.body = Array(given)
        let written = try verb.form.write(try verb.form.read(request)).body
        #expect(try canonical(Data(written)) == given, "the body of \(name) loses something")
    }

    private func canonical(_ json: Data) throws -> Data {
        try JSONSerialization.data(withJSONObject: try JSONSerialization.jsonObject(with: json), options: .sortedKeys)
    }

    /// A source that is missing in `files.c`, or is written in a way that ``SourceNotes`` does not read, leaves fields without
    /// a note.
    @Test func everyFieldHasANote() throws {
        for verb in Self.verbs { try checkNotes(of: verb) }
        for type in [ControlErrorBody.self, HealthyAnswer.self, ReadyAnswer.self] as [any Decodable.Type] {
            checkNotes(of: try SchemaProbe(type))
        }
        let notes = SourceNotes.embedded
        for (name, _) in ControlAPI.named {
            #expect(notes["ControlVerbs.\(name)"]?.text.hasSuffix(".") == true, "\(name)")
        }
        for field in APIFacts.facts.keys where field.first?.isUppercase == true {
            #expect(notes[field.replacing("[]", with: "")] != nil, "\(field)")
        }
    }

    private func checkNotes<V: AnyVerb>(of one: V) throws {
        checkNotes(of: try SchemaProbe(V.Answer.self))
        if let body = one.verb.form.body { checkNotes(of: try SchemaProbe(body)) }
        for name in one.verb.form.parameters {
            let field = "\(SchemaProbe.name(of: V.Input.self)).\(ControlJSON.camel(name))"
            #expect(SourceNotes.embedded[field] != nil, "\(field)")
        }
    }

    private func checkNotes(of node: SchemaProbe) {
        if let items = node.items { checkNotes(of: items) }
        for (name, child) in node.properties {
            checkNotes(of: child)
            let field = "\(node.name).\(ControlJSON.camel(name))"
            #expect(name == SchemaProbe.anyName || SourceNotes.embedded[field] != nil, "\(field)")
        }
    }

    @Test func aNoteIsTheCommentOfADeclaration() {
        let notes = SourceNotes(
            """
            /// A thing: `{"a": 1}`.
            public struct Outer: Sendable {
                package enum Inner: String {
                    case one
                }

                /// Time of the first; `nil` before.
                /// See ``Outer/lastThing`` and ``Inner``.
                public internal(set) var first: TimeText?
                public var lastThing: [String: Int64?] = [:]
                /// `nil` for none.
                var isOn = false

                func work() {
                    /// A local value.
                    let first = 1
                }
            }

            extension Outer {
                /// - Parameter text: A text.
                init(_ text: String) {}

                struct Late { var id: Int { 1 } }
            }
            """
        )
        #expect(notes["Outer"]?.text == #"A thing: `{"a": 1}`."#)
        #expect(notes["Outer.first"]?.text == "Time of the first; absent before. See `last_thing` and `Inner`.")
        #expect(notes["Outer.first"]?.summary == "Time of the first; absent before")
        #expect(notes["Outer.first"]?.details == "See `last_thing` and `Inner`.")
        #expect(notes["Outer.first"]?.type == "TimeText")
        #expect(notes["Outer.lastThing"]?.type == "Int64" && notes["Outer.lastThing"]?.text == "")
        #expect(notes["Outer.isOn"]?.type == "Bool" && notes["Outer.isOn"]?.text == "Absent for none.")
        #expect(notes["Outer.Late"] != nil)
        #expect(notes.notes.count == 6)
    }

    @Test func everySchemaIsReached() throws {
        let text = String(decoding: APIDescription.json, as: UTF8.self)
        for name in document.schemas.keys { #expect(text.contains("\"#/components/schemas/\(name)\""), "\(name)") }
    }

    @Test func propertiesAndKeysAreInTheSameWords() {
        let pairs = [
            ("runID", "run_id"), ("planIDs", "plan_ids"), ("serverRequestID", "server_request_id"),
            ("tookMilliseconds", "took_ms"), ("id", "id"), ("undeliveredTo", "undelivered_to"),
        ]
        for (property, key) in pairs {
            #expect(ControlJSON.snake(property) == key && ControlJSON.camel(key) == property)
        }
    }

    /// A plan is no name of a property.
    @Test func theKeysOfDictionariesStay() throws {
        let listing = StarsListing(planIDs: [], names: ["plan_idOf/X": "A"])
        let json = try ControlJSON.encode(listing)
        #expect(String(decoding: json, as: UTF8.self) == #"{"names":{"plan_idOf/X":"A"},"plan_ids":[]}"#)
        #expect(try ControlJSON.decode(StarsListing.self, from: Array(json)).names == listing.names)
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
        try await checkAnswers(of: agent)
    }

    /// Each verb does work that gives its answer, or an error that is described.
    @Test func everyAnswerOfARealAgentIsAsDescribed() async throws {
        try await withDirectory { directory in
            var options = AgentOptions()
            options.server.url = "http://127.0.0.1:9"
            options.storage.path = directory + "/starwatch.db"
            options.clock.source = .system
            options.log.level = .critical
            options.polls = [PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)]
            options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
            let agent = try await Agent(options: options)
            try await checkAnswers(of: agent.topics)
            await agent.close()
        }
    }

    private func checkAnswers(of agent: any ServedAgent) async throws {
        try await withDirectory { directory in
            let server = HTTPServer(agent: agent, socketPath: directory + "/s.sock", logger: quiet)
            try await withRunning(server) { address in
                let probe = HTTPProbe(address: address)
                // Signing in comes last, so that a real agent polls nothing.
                for (name, operation) in document.operations.sorted(by: { $0.key < $1.key }) {
                    let (method, path) = (name.prefix { $0 != " " }, name.drop { $0 != " " }.dropFirst())
                    let isRunbook = path.hasPrefix("/help/runbooks/")
                    let target = path.replacing("{name}", with: isRunbook ? "StarwatchPollStale" : "starred_projects")
                        .replacing("{id}", with: "1").replacing("{token}", with: "0123456789abcdef")
                        .replacing("{action}", with: "dismiss")
                    let body = document.content(operation["requestBody"])?["example"]
                    let text = try body.map {
                        String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
                    }
                    let reply = try await probe.send(.init(rawValue: String(method)), String(target), body: text ?? "")
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
            let server = HTTPServer(agent: FakeAgent(), socketPath: directory + "/s.sock", logger: quiet)
            try await withRunning(server) {
                let reply = try await HTTPProbe(address: $0).get("/api/v1/openapi.json")
                #expect(reply.status == 200)
                #expect(reply.headers["Content-Type"] == ["application/json"])
                #expect(reply.bytes == APIDescription.json)
            }
        }
    }
}
