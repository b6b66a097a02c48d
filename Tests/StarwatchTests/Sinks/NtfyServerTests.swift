import Foundation
import StarwatchCore
import StarwatchTransport
import Testing

@testable import Starwatch

/// The sink against a server that keeps ntfy's rules.
@Suite struct NtfyServerTests {
    private let clock = ManualClock()

    private func sink(_ server: FakeNtfy) -> RequestSink {
        RequestSink.ntfy(
            name: "phone",
            url: "https://ntfy.example",
            topic: "my-topic",
            http: server,
            time: clock,
            token: nil
        )
    }

    private func notification(_ id: String, _ title: String, _ body: String, key: String? = nil) -> OutgoingNotification
    {
        let payload = key.map { "{\"collapse_key\":\"\($0)\",\"deep_link\":\"timesafari://projects/1\"}" } ?? "{}"
        return OutgoingNotification(
            id: id,
            runID: "run_1",
            poll: "starred_projects",
            group: .single,
            count: 1,
            text: (title, body),
            payload: Array(payload.utf8)
        )
    }

    @Test func anyLanguageArrivesAsItWasWritten() async {
        let server = FakeNtfy(clock: clock)
        let texts = [("プロジェクトの更新", "「緑の庭」が更新されました 🌻"), ("Zażółć gęślą", "jaźń \"x\"\\\n\u{7}")]
        for (index, text) in texts.enumerated() {
            #expect(await sink(server).deliver(notification("ntf_\(index)", text.0, text.1)) == .ok)
        }
        #expect(server.shown.map(\.title) == texts.map(\.0))
        #expect(server.shown.map(\.message) == texts.map(\.1))
    }

    @Test(arguments: ["x", "é", "🌻", "\"", "\\", "👩‍👩‍👧‍👦", "\u{1}"])
    func aTextThatIsTooLongIsCutAndNotRefused(character: String) async throws {
        let server = FakeNtfy(clock: clock)
        let long = String(repeating: character, count: 9000)
        #expect(await sink(server).deliver(notification("ntf_1", long, long, key: "starred-projects")) == .ok)
        let shown = try #require(server.shown.first)
        #expect(shown.message.utf8.count <= 4096)
        #expect(shown.message.utf8.count > 500)
        for text in [shown.title, shown.message] {
            #expect(text.hasSuffix("…"))
            #expect(text.dropLast().allSatisfy { String($0) == character })
        }
    }

    /// As a plan's handle can make it.
    @Test(arguments: [(1024, true), (1025, false), (20_000, false)])
    func aLinkThatIsTooLongIsLeftOut(length: Int, isKept: Bool) async {
        let server = FakeNtfy(clock: clock)
        let link = String(repeating: "x", count: length)
        let text = String(repeating: "\u{1}", count: 9000)
        var given = notification("ntf_1", text, text)
        given = OutgoingNotification(
            id: given.id,
            runID: given.runID,
            poll: given.poll,
            group: given.group,
            count: given.count,
            text: (given.title, given.body),
            payload: Array("{\"deep_link\":\"\(link)\"}".utf8)
        )
        #expect(await sink(server).deliver(given) == .ok)
        #expect(server.shown.map(\.click) == [isKept ? link : nil])
    }

    @Test func aTextOfJustTheLengthIsWhole() async {
        let server = FakeNtfy(clock: clock)
        let text = String(repeating: "x", count: 4096)
        #expect(await sink(server).deliver(notification("ntf_1", "t", text)) == .ok)
        #expect(server.shown.map(\.message) == [text])
    }

    @Test func aRetryReplacesAndShowsNothingTwice() async {
        let server = FakeNtfy(clock: clock)
        let first = notification("ntf_1", "Project Update", "one", key: "starred-projects")
        for _ in 0..<2 { #expect(await sink(server).deliver(first) == .ok) }
        #expect(server.published == 2)
        #expect(server.shown == [.init(title: "Project Update", message: "one", click: "timesafari://projects/1")])
        #expect(await sink(server).deliver(notification("ntf_2", "New Offer", "two", key: "offers-to-me")) == .ok)
        #expect(
            await sink(server).deliver(notification("ntf_3", "Project Update", "three", key: "starred-projects")) == .ok
        )
        #expect(server.shown.map(\.message) == ["two", "three"])
    }

    @Test func aKeyThatIsNoSequenceIsLeftOut() async {
        let server = FakeNtfy(clock: clock)
        #expect(await sink(server).deliver(notification("ntf_1", "t", "b", key: "not a sequence")) == .ok)
    }

    /// ntfy's 429 says nothing, so the sink's circuit does the waiting.
    @Test func aFullBucketIsWaitedForWithoutBeingToldHowLong() async {
        let server = FakeNtfy(clock: clock)
        let sink = sink(server)
        for index in 0..<60 { #expect(await sink.deliver(notification("ntf_\(index)", "t", "b")) == .ok) }
        let result = await sink.deliver(notification("ntf_60", "t", "b"))
        #expect(result.answer == .unavailable, "a 429 was not taken for one")
        #expect(result.retryAfter == nil)
        clock.advance(by: FakeNtfy.refill)
        #expect(await sink.deliver(notification("ntf_60", "t", "b")) == .ok)
        #expect(server.answers.suffix(2) == [429, 200])
    }

    @Test(arguments: [(nil, "unavailable"), ("tk_wrong", "unavailable"), ("tk_right", "ok")])
    func aTopicThatIsProtectedWantsItsToken(token: String?, expected: String) async throws {
        let server = FakeNtfy(clock: clock, token: "tk_right")
        let folder = try TestFolder()
        let file = try token.map {
            SecretFile(path: try folder.write($0 + "\n", to: "token"), setting: "delivery.sinks.phone.token_file")
        }
        let sink = RequestSink.ntfy(
            name: "phone",
            url: "https://ntfy.example/",
            topic: "t",
            http: server,
            time: clock,
            token: file.map(SinkSecret.file)
        )
        #expect(await sink.deliver(notification("ntf_1", "t", "b")).answer.rawValue == expected)
    }

    /// A token that was revoked refuses every notification, and none of them is wrong.
    @Test func aRevokedTokenOpensTheCircuitUntilItIsReplaced() async throws {
        let server = FakeNtfy(clock: clock, token: "tk_right")
        let folder = try TestFolder()
        let path = try folder.write("tk_revoked", to: "token")
        var sink = sink(server)
        sink.secret = .file(SecretFile(path: path, setting: "delivery.sinks.phone.token_file"))
        var hosts = SinkHosts(areOfAccounts: false)
        for _ in 0..<5 {
            let result = await sink.deliver(notification("ntf_1", "t", "b"))
            #expect(result.failure?.reason.status == 401)
            #expect(result.failure?.sentence.contains("correct its url, topic or token_file") == true)
            #expect(String(decoding: result.said, as: UTF8.self).contains("40101"))
            _ = hosts[""].record(result, at: clock.now)
        }
        #expect(hosts.whole.condition == .down)
        _ = try folder.write("tk_right", to: "token")
        let result = await sink.deliver(notification("ntf_1", "t", "b"))
        #expect(result == .ok)
        _ = hosts[""].record(result, at: clock.now)
        #expect(hosts.whole.condition == .working)
    }

    /// At the same server, other accounts have other topics. A token of the configuration is that of all accounts.
    @Test(
        arguments: [
            (401, false, SinkAddress(topic: "own", secret: "tk_own"), true),
            (401, false, SinkAddress(topic: "own"), true), (401, true, SinkAddress(topic: "own"), false),
            (403, true, SinkAddress(topic: "own"), true), (403, true, SinkAddress(url: "https://own.test"), false),
            (403, false, SinkAddress(url: "https://own.test"), true), (404, true, SinkAddress(topic: "own"), false),
            (404, true, SinkAddress(url: "https://own.test"), true), (401, false, SinkAddress(), false),
            (403, false, SinkAddress(), false),
        ] as [(Int, Bool, SinkAddress, Bool)]
    )
    func onlyARefusalOfWhatTheAccountBringsIsItsOwn(
        status: Int,
        hasSharedToken: Bool,
        address: SinkAddress,
        isOwn: Bool
    ) async throws {
        var shared = RequestSink.ntfy(
            name: "phone",
            url: "https://ntfy.example",
            topic: "my-topic",
            http: RecordedService(status),
            time: clock
        )
        shared.secret = hasSharedToken ? .value("tk_shared") : nil
        let account = try #require(DID("did:ethr:0x00000000000000000000000000000000000000aa"))
        let result = await shared.sink(of: account, at: address).deliver(notification("ntf_1", "t", "b"))
        #expect(result.answer == .unavailable && result.isOfReceiver == isOwn)
        var hosts = SinkHosts(areOfAccounts: true)
        for _ in 0..<5 { _ = hosts["https://ntfy.example"].record(result, at: clock.now) }
        #expect(hosts.whole.condition == (isOwn ? .working : .down))
    }
}
