import Dispatch
import Foundation
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

/// What follows an answer needs no other thread, and what takes long holds up no other request.
@Suite(.timeLimit(.minutes(5))) struct TransportExecutorTests {
    private let did = DID("did:ethr:0x1111111111111111111111111111111111111111")!

    /// The thread of a client. Its name does not tell: threads that it starts inherit it.
    private struct Driver {
        private let thread: String?

        init(of client: HTTPClient) async {
            thread = await Task(executorPreference: client.executor) { Self.currentThread }.value
        }

        /// Whether the caller runs on it.
        var isHere: Bool { thread != nil && thread == Self.currentThread }

        private static var currentThread: String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        }
    }

    @Test func aTaskThatPrefersTheExecutorContinuesOnItsThread() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: "here") }
        let client = try makeClient()
        let driver = await Driver(of: client)
        await withTaskExecutorPreference(client.executor) {
            #expect(driver.isHere)
            _ = await client.exchange(HTTPRequest(url: server.url()))
            #expect(driver.isHere)
            await withTaskGroup { group in
                for _ in 0..<100 { group.addTask { #expect(driver.isHere) } }
            }
        }
        #expect(!driver.isHere)
    }

    private actor Shared {
        private var count = 0

        func step() { count += 1 }
    }

    /// The thread that works for an actor takes along the jobs of other tasks. With a preference they leave it again.
    @Test func aTaskWithAnotherPreferenceLeavesTheThreadWithTheActor() async throws {
        let client = try makeClient()
        let driver = await Driver(of: client)
        let shared = Shared()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask(executorPreference: client.executor) { for _ in 0..<200 { await shared.step() } }
                group.addTask {
                    await Offload.run {
                        for _ in 0..<200 {
                            await shared.step()
                            #expect(!driver.isHere)
                        }
                    }
                }
            }
        }
    }

    @Test func tasksContinueAfterTheEndOfTheClient() async throws {
        let client = try makeClient()
        let driver = await Driver(of: client)
        await withTaskExecutorPreference(client.executor) {
            // On its own thread it does not wait for the thread's end.
            client.shutdown()
            // Not `Task.yield()`, whose job can end before the task waits for it: the task then stays on the thread.
            await Offload.run {}
            let exchange = await client.exchange(HTTPRequest(url: "http://127.0.0.1:9/"))
            #expect(failure(of: exchange.result) == .cancelled)
            #expect(!driver.isHere)
        }
    }

    @Test(arguments: [(16, true), (Offload.longAnswer, false)])
    func onlyAShortAnswerIsReadOnTheThread(size: Int, isOnDriver: Bool) async throws {
        let server = try LoopbackServer.answering { _ in answer(body: String(repeating: "x", count: size)) }
        let http = try makeClient()
        let driver = await Driver(of: http)
        let client = EndorserClient(http: http, baseURL: server.url(), clientVersion: "1")
        let places = Mutex<[Bool]>([])
        await withTaskExecutorPreference(http.executor) {
            let request = EndorserRequest(.plansChanged, of: nil, runID: "run_of_the_test")
            let exchange = await client.send(request, id: "r-1")
            _ = await exchange.read { _ in
                places.withLock { $0.append(driver.isHere) }
                return .success(())
            }
            #expect(driver.isHere)
        }
        #expect(places.withLock { $0 } == [isOnDriver])
    }

    /// A provider whose file does not answer.
    private struct StuckProvider: TokenProvider {
        let isReleased = DispatchSemaphore(value: 0)
        let isAsked = Events(of: Bool.self)

        func token(
            for account: DID,
            dialect: Dialect,
            purpose: TokenPurpose,
            serverTime: Timestamp
        ) async throws(TokenError) -> AccessToken? {
            block()
            return AccessToken(rawValue: "late", expiresAt: nil)
        }

        private func block() {
            isAsked.report.yield(true)
            isReleased.wait()
        }

        func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {}
        var expiry: Timestamp? { get async { nil } }
    }

    @Test func aSlowTokenDelaysNoOtherRequest() async throws {
        let server = try LoopbackServer.answering { _ in answer(body: "here") }
        let client = try makeClient()
        let driver = await Driver(of: client)
        let stuck = StuckProvider()
        let tokens = TokenMemory(of: stuck, monotonic: { .zero })
        let now = Vector.issuedAt
        await withTaskExecutorPreference(client.executor) {
            await withTaskGroup { group in
                group.addTask { [did] in
                    let token = try? await tokens.token(for: did, dialect: .canonical, purpose: .poll, serverTime: now)
                    #expect(token?.rawValue == "late")
                    #expect(driver.isHere)
                }
                group.addTask {
                    _ = await stuck.isAsked.next()
                    for _ in 0..<3 {
                        let response = try? await client.execute(HTTPRequest(url: server.url()))
                        #expect(response.map(text) == "here")
                    }
                    stuck.isReleased.signal()
                }
            }
        }
    }
}

/// A poll asks its provider once a second.
@Suite struct TokenMemoryTests {
    private final class Provider: TokenProvider {
        let asked = Mutex(0)
        let expiry: Timestamp?

        init(expiry: Timestamp? = nil) {
            self.expiry = expiry
        }

        func token(
            for account: DID,
            dialect: Dialect,
            purpose: TokenPurpose,
            serverTime: Timestamp
        ) async throws(TokenError) -> AccessToken? {
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return AccessToken(rawValue: "token\(number)", expiresAt: expiry)
        }

        func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {}
    }

    private final class Clock: Sendable {
        let now = Mutex(Duration.zero)
    }

    private let alice = DID("did:ethr:0x1111111111111111111111111111111111111111")!
    private let bob = DID("did:ethr:0x2222222222222222222222222222222222222222")!
    private let clock = Clock()

    private func memory(of provider: Provider) -> TokenMemory {
        TokenMemory(of: provider, monotonic: { [clock] in clock.now.withLock { $0 } })
    }

    private func text(
        _ memory: TokenMemory,
        for account: DID,
        _ dialect: Dialect = .canonical,
        _ purpose: TokenPurpose = .poll,
        at time: Timestamp = Vector.issuedAt
    ) async throws -> String? {
        try await memory.token(for: account, dialect: dialect, purpose: purpose, serverTime: time)?.rawValue
    }

    @Test func aPollsTokenIsKeptForASecond() async throws {
        let memory = memory(of: Provider())
        #expect(try await text(memory, for: alice) == "token1")
        clock.now.withLock { $0 = .milliseconds(999) }
        #expect(try await text(memory, for: alice) == "token1")
        clock.now.withLock { $0 = .seconds(1) }
        #expect(try await text(memory, for: alice) == "token2")
    }

    @Test func aTokenIsKeptForNoOtherAccountDialectOrPurpose() async throws {
        let memory = memory(of: Provider())
        #expect(try await text(memory, for: alice) == "token1")
        #expect(try await text(memory, for: bob) == "token2")
        #expect(try await text(memory, for: alice) == "token3")
        #expect(try await text(memory, for: alice, .endorser) == "token4")
        #expect(try await text(memory, for: alice, .endorser, .acknowledge) == "token5")
        #expect(try await text(memory, for: alice, .endorser) == "token4")
    }

    @Test func aRefusedForgottenOrExpiredTokenIsNotHandedOutAgain() async throws {
        let end = Vector.issuedAt + .seconds(10)
        let memory = memory(of: Provider(expiry: end))
        let first = try #require(
            await memory.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: Vector.issuedAt)
        )
        await memory.refuse(first, for: .poll)
        #expect(try await text(memory, for: alice) == "token2")
        await memory.forget()
        #expect(try await text(memory, for: alice) == "token3")
        #expect(try await text(memory, for: alice, at: end) == "token4")
    }

    /// A provider that answers nothing before it is told what.
    private actor SlowProvider: TokenProvider {
        private var text: String?
        private var asking: [CheckedContinuation<Void, Never>] = []
        private var waiting: CheckedContinuation<Void, Never>?

        func token(
            for account: DID,
            dialect: Dialect,
            purpose: TokenPurpose,
            serverTime: Timestamp
        ) async throws(TokenError) -> AccessToken? {
            if text == nil {
                await withCheckedContinuation { asker in
                    asking.append(asker)
                    waiting?.resume()
                    waiting = nil
                }
            }
            return text.map { AccessToken(rawValue: $0, expiresAt: nil) }
        }

        /// Returns when a token was asked for.
        func waitForRequest() async {
            if asking.isEmpty { await withCheckedContinuation { waiting = $0 } }
        }

        func answer(_ text: String) {
            self.text = text
            for asker in asking { asker.resume() }
            asking = []
        }

        func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {}
        var expiry: Timestamp? { get async { nil } }
    }

    @Test(arguments: [true, false])
    func aTokenThatWasObtainedBeforeARefusalIsNotKept(isRefused: Bool) async throws {
        let provider = SlowProvider()
        let memory = TokenMemory(of: provider, monotonic: { .zero })
        func token() async throws -> String? {
            try await memory.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: Vector.issuedAt)?
                .rawValue
        }
        async let first = token()
        await provider.waitForRequest()
        if isRefused {
            await memory.refuse(AccessToken(rawValue: "old", expiresAt: nil), for: .poll)
        } else {
            await memory.forget()
        }
        await provider.answer("old")
        #expect(try await first == "old")
        await provider.answer("new")
        #expect(try await token() == "new")
    }
}
