import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct ListConfigurationTests {
    private static let whole = """
        polls:
          releases:
            kind: json
            url: https://api.example.org/v1/releases
            query: {limit: 50, q: "a b"}
            headers_file: token.headers
            items: /data
            id: /id
            version: /updated_at
            name: /title
            link: /html_url
            fields: {author: /user/login}
            order: newest_first
            next: {pointer: /next_cursor, parameter: cursor}
            max_pages: 5
            since: {parameter: since, from: /updated_at, overlap: 5m}
            expect:
              - {pointer: /status, equals: ok}
              - {pointer: /data, exists: true}
              - {pointer: /total, at_least: 1}
            bootstrap: beginning
            texts: {title: Releases, single: "{name} of {author} is out", several: "{count} releases"}

        """

    private func load(_ text: String, in folder: String = "/srv") throws -> LoadedConfiguration {
        try ConfigurationLoader(environment: [:], workingDirectory: "/", checksSecrets: false)
            .load(text: text, file: "starwatch.yaml", directory: folder)
    }

    private func next(_ form: String) throws -> JSONPoll.Next? {
        let text = "polls: {p: {kind: json, url: \"https://a.test\", id: /id, next: \(form)}}"
        return try load(text).options.polls.first?.json?.next
    }

    @Test func everySettingIsRead() throws {
        let poll = try #require(try load(Self.whole).options.polls.first)
        let list = try #require(poll.json)
        #expect(list.url == "https://api.example.org/v1/releases")
        #expect(list.query == ["limit": "50", "q": "a b"])
        #expect(list.headersFile == "/srv/token.headers")
        #expect(list.items == JSONPointer("/data") && list.id == JSONPointer("/id"))
        #expect(list.version == JSONPointer("/updated_at") && list.name == JSONPointer("/title"))
        #expect(list.link == JSONPointer("/html_url"))
        #expect(list.fields == ["author": JSONPointer("/user/login")])
        #expect(list.order == .newestFirst && list.maxPages == 5)
        #expect(list.next == .cursor(at: JSONPointer("/next_cursor")!, parameter: "cursor"))
        #expect(list.since?.parameter == "since" && list.since?.from == JSONPointer("/updated_at"))
        #expect(list.since?.overlap == .seconds(300))
        #expect(
            list.expect == [
                .init(JSONPointer("/status")!, .equals("ok")), .init(JSONPointer("/data")!, .exists),
                .init(JSONPointer("/total")!, .atLeast(1)),
            ]
        )
        #expect(poll.bootstrap == .beginning)
        #expect(poll.texts.title == "Releases" && poll.texts.several == "{count} releases")
    }

    @Test func aPageHasEachForm() throws {
        #expect(try next("{link_header: true}") == .linkHeader)
        #expect(try next("{pointer: /next}") == .url(at: JSONPointer("/next")!))
        #expect(try next("{page: page}") == .number(parameter: "page", first: 1))
        #expect(try next("{page: p, first: 0, link_header: false, pointer: null}") == .number(parameter: "p", first: 0))
        #expect(try next("null") == nil)
    }

    @Test func theAnswerCanBeTheListAndAnItemItsId() throws {
        let poll = try load("polls: {p: {kind: json, url: \"https://a.test\", items: \"\", id: \"\"}}").options.polls[0]
        #expect(poll.json?.items == .whole && poll.json?.id == .whole)
    }

    @Test func thePrintedConfigurationIsTheSame() throws {
        let loaded = try load(Self.whole)
        let printed = ConfigurationPrinter.yaml(loaded)
        #expect(try load(printed.replacing("<did>", with: "null")).options.polls == loaded.options.polls)
        #expect(printed.contains("expect: [{pointer: /status, equals: ok}, {pointer: /data, exists: true}"))
    }

    @Test func aParameterThatIsACredentialIsNotShown() throws {
        let text = "polls: {p: {kind: json, url: \"https://a.test\", id: /id, query: {api_key: hunter2, n: 5}}}"
        let printed = ConfigurationPrinter.yaml(try load(text))
        #expect(printed.contains("{api_key: <secret>, n: \"5\"}") && !printed.contains("hunter2"))
    }

    @Test func anAgentOfListsAloneNeedsNoServerAndNoIdentity() throws {
        let options = try load(Self.whole).options
        #expect(options.server.url == "https://api.example.org")
        #expect(options.clock.source == .system)
        #expect(options.initialIdentity == DID("did:starwatch:local"))
        #expect(OptionWarning.all(in: options, OptionWarning.Facts()) == [])
    }

    @Test func aServerBesideListsStays() throws {
        let both = try load(Self.whole + "  starred_projects: {kind: starred_projects}\n").options
        #expect(both.server.url == "https://api.endorser.ch" && both.initialIdentity == nil)
        let named = try load(Self.whole + "server: {url: \"https://b.test\"}\nclock: {source: date_header}\n").options
        #expect(named.server.url == "https://b.test" && named.clock.source == .dateHeader)
    }
}
