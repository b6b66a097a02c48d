import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Synchronization
import Testing

@testable import Starwatch

/// Digests whose content the host program fetches.
@Suite struct ContentFetcherTests {
    /// A fetcher that answers as it is told, and keeps what it was asked.
    private final class News: ContentFetcher {
        struct State: Sendable {
            var answers: [ContentAnswer] = []
            var seen: [ContentRequest] = []
            /// Never answers, and does not heed cancellation.
            var hangs = false
        }

        struct Broken: Error {}

        let name = "news"
        let state: Mutex<State>

        init(_ answers: ContentAnswer..., hangs: Bool = false) {
            state = Mutex(State(answers: answers, hangs: hangs))
        }

        var seen: [ContentRequest] { state.withLock(\.seen) }

        func content(for request: ContentRequest) async throws -> ContentAnswer {
            let hangs = state.withLock { state in
                state.seen.append(request)
                return state.hangs
            }
            if hangs { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
            return try state.withLock { state in
                guard !state.answers.isEmpty else { throw Broken() }
                return state.answers.removeFirst()
            }
        }
    }

    private func digest() -> DigestOptions {
        var digest = DigestOptions(name: DigestBench.name, fetcher: "news")
        digest.times = [DayTime("13:00")!]
        digest.timezone = "UTC"
        digest.body = "{{count}} new"
        digest.sinks = ["app"]
        return digest
    }

    /// An agent of a host with a fetcher and a sink of its own.
    private func run(
        _ news: News,
        ttl: Duration? = nil,
        _ body: (Agent, DigestService, ManualClock, NotificationFeed) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        var options = AgentOptions()
        options.initialIdentity = Bench.did
        options.storage.path = folder.path("starwatch.db")
        options.clock.source = .system
        var digest = digest()
        digest.ttl = ttl
        options.digests = [digest]
        let feed = NotificationFeed(name: "app")
        var dependencies = AgentDependencies()
        dependencies.sinks = [feed]
        dependencies.fetchers = [news]
        let agent = try await Agent(options: options, time: clock, logSinks: [], dependencies: dependencies.patient)
        do {
            try await body(agent, try #require(agent.runtime.digests), clock, feed)
        } catch {
            await agent.close()
            throw error
        }
        await agent.close()
    }

    private func settle(_ service: DigestService) async {
        for _ in 0..<3 {
            for fetch in await service.pass().fetches { await service.fetch(fetch) }
        }
    }

    private func count(_ agent: Agent, _ outcome: DigestPrefetchOutcome) -> UInt64 {
        agent.metrics.digests.prefetches[outcome].value
    }

    @Test func aHostsFetcherIsAskedOnceALeadBeforeTheTimeAndItsContentIsShown() async throws {
        let news = News(.content(#"{"count": 3}"#, etag: "v1"), .content(#"{"count": 5}"#, etag: "not printable é"))
        try await run(news) { agent, service, clock, feed async throws in
            // At the start there is no content.
            await settle(service)
            #expect(news.seen == [ContentRequest(digest: DigestBench.name, fireAt: nil, account: Bench.did, etag: nil)])
            clock.advance(by: .seconds(3299))
            await settle(service)
            #expect(news.seen.count == 1)
            clock.advance(by: .seconds(1))
            await settle(service)
            let asked = ContentRequest(
                digest: DigestBench.name,
                fireAt: DigestBench.day,
                account: Bench.did,
                etag: "v1"
            )
            #expect(news.seen.last == asked && news.seen.count == 2)
            clock.advance(by: .seconds(300))
            await settle(service)
            _ = await agent.runtime.dispatcher.pass()
            var notifications = feed.notifications.makeAsyncIterator()
            #expect(await notifications.next()?.body == "5 new")
            #expect(await service.pass().shown == 1)
            #expect(news.seen.count == 2 && count(agent, .fetched) == 2)
            #expect(await agent.state().digests["daily"]?.lastStatus == .shown)
        }
    }

    @Test func whatAHostConfirmsIsAsYoungAsNew() async throws {
        let news = News(.content(#"{"count": 3}"#, etag: "v1"), .notModified)
        try await run(news, ttl: .seconds(600)) { agent, service, clock, _ async throws in
            await settle(service)
            clock.advance(by: .seconds(3300))
            await settle(service)
            #expect(count(agent, .notModified) == 1)
            let rows = try await agent.store.digests.state(of: Bench.did, since: clock.now).rows
            #expect(rows.map(\.row.arming?.text) == [.fresh(clock.now)])
        }
    }

    @Test(
        arguments: [
            (nil, .unreachable), (.notModified, .refused), (.content("[1]"), .malformed), (.content("{"), .malformed),
            (.content("{\"a\":\"" + String(repeating: "x", count: 262_144) + "\"}"), .malformed),
        ] as [(ContentAnswer?, DigestPrefetchOutcome)]
    )
    func whatAHostCannotFetchIsNotStored(answer: ContentAnswer?, outcome: DigestPrefetchOutcome) async throws {
        let news = News()
        news.state.withLock { $0.answers = answer.map { [$0] } ?? [] }
        try await run(news) { agent, service, _, _ async throws in
            await settle(service)
            #expect(count(agent, outcome) == 1 && news.seen.count == 1)
            let source = service.digests[0].source
            #expect(try await agent.store.digests.content(source: source, account: Bench.did) == nil)
            // Asked again by hand, it says so in words of its own.
            news.state.withLock { $0.answers = answer.map { [$0] } ?? [] }
            let error = await #expect(throws: AgentError.self) { try await agent.fetchNow(DigestBench.name) }
            #expect(error?.message == outcome.failure(of: .fetcher("news")))
        }
    }

    @Test func aHostsFetcherThatHangsIsGivenUpAfterTwelveSeconds() async throws {
        try await run(News(hangs: true)) { agent, service, clock, _ async throws in
            let pass = await service.pass()
            let fetch = try #require(pass.fetches.first)
            async let outcome = service.fetch(fetch)
            await clock.sleepers(atLeast: 1)
            #expect(clock.nextWake == ManualClock.start + .seconds(12))
            clock.advance(by: .seconds(12))
            #expect(await outcome == .timeout)
            // A change of identity does not wait for it either.
            async let given = service.fetch(fetch)
            await clock.sleepers(atLeast: 1)
            try await agent.setActiveIdentity(nil)
            #expect(await given == .cancelled)
        }
    }

    @Test func digestsShareWhatOneRequestBringsButNotWhatAFetcherDoes() {
        func source(_ name: String, _ content: ContentSource) -> String {
            var options = DigestOptions(name: DigestName(name)!, fetcher: "news")
            options.content = content
            return Digest(options, token: nil, zone: { FixedZone.utc }).source
        }
        let request = ContentSource.request(FetchOptions(url: "https://example.org"))
        #expect(source("daily", request) == source("weekly", request))
        #expect(source("daily", .fetcher("news")) != source("weekly", .fetcher("news")))
        #expect(source("daily", .fetcher("news")) != source("daily", .fetcher("olds")))
    }

    @Test func theVerbsOfAHostFetchAndShowItNow() async throws {
        let news = News(.content(#"{"count": 1}"#), .content(#"{"count": 2}"#), .notModified)
        try await run(news) { agent, service, _, feed async throws in
            await settle(service)
            #expect(try await agent.fetchNow(DigestBench.name))
            #expect(try await !agent.fetchNow(DigestBench.name))
            let id = try await agent.showNow(DigestBench.name)
            var notifications = feed.notifications.makeAsyncIterator()
            let shown = await notifications.next()
            #expect(shown?.id == id && shown?.body == "2 new (as of 2026-01-01 12:00)")
            await #expect(throws: AgentError.self) { try await agent.fetchNow(DigestName("weekly")!) }
            await #expect(throws: AgentError.self) { try await agent.showNow(DigestName("weekly")!) }
        }
    }

    // MARK: - The article's example

    struct Headlines: ContentFetcher {
        let name = "headlines"
        let latest: @Sendable () async throws -> (version: String, json: String)

        func content(for request: ContentRequest) async throws -> ContentAnswer {
            let latest = try await latest()
            return latest.version == request.etag ? .notModified : .content(latest.json, etag: latest.version)
        }
    }

    @Test func theExampleOfTheArticleWorks() async throws {
        let folder = try TestFolder()
        let headlines = Headlines { ("v7", #"{"count": 7}"#) }
        var options = AgentOptions()
        options.initialIdentity = Bench.did
        options.storage.path = folder.path("starwatch.db")
        options.log.level = .critical

        var morning = DigestOptions(name: DigestName("morning")!, fetcher: "headlines")
        morning.times = [DayTime("08:00")!]
        morning.body = "{{count}} headlines"
        options.digests = [morning]
        let agent = try await Agent(options: options, fetchers: [headlines])

        #expect(try await agent.fetchNow(morning.name))
        #expect(try await !agent.fetchNow(morning.name))
        await agent.close()
    }

    @Test func aFetcherThatTheProgramDoesNotHaveIsRefused() async throws {
        let folder = try TestFolder()
        var options = AgentOptions()
        options.storage.path = folder.path("starwatch.db")
        options.digests = [digest()]
        let app = NotificationFeed(name: "app")
        await #expect(throws: AgentError.self) { try await Agent.check(options, sinks: [app]) }
        await #expect(throws: AgentError.self) { try await Agent.check(options, fetchers: [News()]) }
        await #expect(throws: AgentError.self) {
            try await Agent.check(options, sinks: [app], fetchers: [News(), News()])
        }
        try await Agent.check(options, sinks: [app], fetchers: [News()])
        await #expect(throws: AgentError.self) { try await Agent(options: options, sinks: [app]) }
    }
}
