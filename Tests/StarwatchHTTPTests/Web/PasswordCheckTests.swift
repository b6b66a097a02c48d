import Foundation
import NIOCore
import Synchronization
import Testing

@testable import StarwatchHTTP

@Suite(.timeLimit(.minutes(5)))
struct PasswordCheckTests {
    private final class Work: Sendable {
        let checks = Mutex(0)
        let wasted = Mutex<[Int]>([])
    }

    private let work = Work()
    private let client = ClientNetwork(nil)

    /// A check for which only the password `right` is right.
    private var check: PasswordCheck {
        PasswordCheck { [work] password, _ in
            work.checks.withLock { $0 += 1 }
            return password == "right"
        } waste: { [work] _, cost in
            work.wasted.withLock { $0.append(cost) }
        }
    }

    private func login(_ user: String, _ password: String) throws -> Login {
        let text = Data("\(user):\(password)".utf8).base64EncodedString()
        return try #require(Login(authorization: "Basic \(text)"))
    }

    private let users = ["a": WebServer.secretHash, "b": WebServer.secretHash.replacing("$04$", with: "$12$")]

    @Test(arguments: [
        // Of the test vectors of the bcrypt implementation that libxcrypt contains.
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        ("secret", WebServer.secretHash),
        ("secret", WebServer.secretHash.replacing("$2b$", with: "$2y$")),
    ])
    func theSystemsLibraryChecksPasswords(password: String, hash: String) {
        #expect(Bcrypt.matches(password, hash))
        for wrong in ["", password + "x", password.uppercased() + "u", password + "\0"] {
            #expect(!Bcrypt.matches(wrong, hash))
        }
    }

    @Test func onlyBcryptHashesHaveACost() {
        #expect(Bcrypt.cost(of: WebServer.secretHash) == 4)
        let wrong = [
            "", "secret", "$1$abc$def", "$2x$" + WebServer.secretHash.dropFirst(4), WebServer.secretHash + "a",
        ]
        for hash in wrong { #expect(Bcrypt.cost(of: hash) == nil) }
    }

    @Test func aRightPasswordIsCheckedOnceAndAWrongOneEveryTime() async throws {
        let check = check
        for _ in 0..<3 {
            #expect(await check.check(try login("a", "right"), of: client, among: users) == .right)
            #expect(await check.check(try login("a", "wrong"), of: client, among: users) == .wrong)
        }
        #expect(work.checks.withLock { $0 } == 4)
    }

    /// What is remembered holds for the user, the hash and the password together.
    @Test func aChangedHashIsCheckedAgain() async throws {
        let check = check
        #expect(await check.check(try login("a", "right"), of: client, among: users) == .right)
        #expect(await check.check(try login("b", "right"), of: client, among: users) == .right)
        let changed = ["a": try #require(users["b"])]
        #expect(await check.check(try login("a", "right"), of: client, among: changed) == .right)
        #expect(work.checks.withLock { $0 } == 3)
        #expect(await check.check(try login("a", "right"), of: client, among: [:]) == .wrong)
    }

    /// Who asks for names cannot tell which exist by the time of the answer.
    @Test func anUnknownUserCostsAsMuchAsTheSlowestHash() async throws {
        #expect(await check.check(try login("c", "right"), of: client, among: users) == .wrong)
        #expect(work.wasted.withLock { $0 } == [12])
        #expect(work.checks.withLock { $0 } == 0)
    }

    @Test func onlySoManyPasswordsAreRemembered() async throws {
        let check = check
        let names = (0...PasswordCheck.memoryLimit).map { "user\($0)" }
        let users = Dictionary(uniqueKeysWithValues: names.map { ($0, WebServer.secretHash) })
        for name in names { #expect(await check.check(try login(name, "right"), of: client, among: users) == .right) }
        #expect(await check.check(try login("user1", "right"), of: client, among: users) == .right)
        #expect(work.checks.withLock { $0 } == names.count)
        #expect(await check.check(try login("user0", "right"), of: client, among: users) == .right)
        #expect(work.checks.withLock { $0 } == names.count + 1)
    }

    /// A check that waits at a gate, and tells of its begin.
    private final class Gated: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let order = Mutex<[String]>([])
        let (begins, begin) = AsyncStream<Void>.makeStream()

        func check() -> PasswordCheck {
            PasswordCheck { [self] password, _ in
                order.withLock { $0.append(password) }
                begin.yield()
                gate.wait()
                return password == "right"
            } waste: { _, _ in
            }
        }

        /// Waits until a check has begun, so that it has left the queue.
        func waitForBegin() async {
            var iterator = begins.makeAsyncIterator()
            await iterator.next()
        }
    }

    @Test func oneCheckRunsAtATimeAndOnlySoManyWait() async throws {
        let gated = Gated()
        let check = gated.check()
        let login = try login("a", "wrong")
        await withTaskGroup(of: PasswordCheck.Outcome.self) { group in
            func ask() { group.addTask { [client, users] in await check.check(login, of: client, among: users) } }
            ask()
            await gated.waitForBegin()
            for _ in 0..<PasswordCheck.queueLimit + 8 { ask() }
            for _ in 0..<8 { #expect(await group.next() == .busy) }
            #expect(gated.order.withLock { $0.count } == 1)
            for _ in 0...PasswordCheck.queueLimit { gated.gate.signal() }
            for await outcome in group { #expect(outcome == .wrong) }
        }
        #expect(gated.order.withLock { $0.count } == PasswordCheck.queueLimit + 1)
    }

    /// Who asks for names cannot tell by the time of the answer which hash is cheap.
    @Test func aWrongPasswordCostsAsMuchAsTheSlowestHash() async throws {
        #expect(await check.check(try login("a", "wrong"), of: client, among: users) == .wrong)
        // The check itself costs 2^4, and these add up to 2^12 with it.
        #expect(work.wasted.withLock { $0 } == [4, 5, 6, 7, 8, 9, 10, 11])
        #expect(await check.check(try login("b", "wrong"), of: client, among: users) == .wrong)
        #expect(work.wasted.withLock { $0.count } == 8)
    }

    /// A stop or a reload does not wait for strangers.
    @Test func aCancelledCheckIsAnsweredAndNotMade() async throws {
        let gated = Gated()
        let check = gated.check()
        let login = try login("a", "wrong")
        func ask() -> Task<PasswordCheck.Outcome, Never> {
            Task { [client, users] in await check.check(login, of: client, among: users) }
        }
        let tasks = [ask(), ask(), ask()]
        await gated.waitForBegin()
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == .busy) }
        gated.gate.signal()
        // The next one has its turn after the one that ran. The two others were not checked.
        async let next = check.check(login, of: client, among: users)
        gated.gate.signal()
        #expect(await next == .wrong)
        #expect(gated.order.withLock { $0.count } == 2)
    }

    /// A client with many connections loses a place to one that asks for the first time, and that one is next.
    @Test func aClientThatFillsTheQueueDelaysNobodyElse() async throws {
        let gated = Gated()
        let check = gated.check()
        let other = ClientNetwork(try SocketAddress(ipAddress: "10.0.0.1", port: 1))
        let (wrong, right) = (try login("a", "wrong"), try login("a", "right"))
        await withTaskGroup(of: PasswordCheck.Outcome.self) { group in
            func guess() { group.addTask { [client, users] in await check.check(wrong, of: client, among: users) } }
            guess()
            await gated.waitForBegin()
            for _ in 0...PasswordCheck.queueLimit { guess() }
            #expect(await group.next() == .busy)
            group.addTask { [users] in await check.check(right, of: other, among: users) }
            #expect(await group.next() == .busy)
            for _ in 0...PasswordCheck.queueLimit { gated.gate.signal() }
            var rest: [PasswordCheck.Outcome] = []
            for await outcome in group { rest.append(outcome) }
            #expect(rest.count { $0 == .right } == 1)
        }
        // It was the third at the latest: one ran, and the other client's turn can have been first.
        #expect(gated.order.withLock { $0.prefix(3).contains("right") })
    }

    @Test(arguments: ["", "Basic", "Basic ?", "Bearer c2VjcmV0OnNlY3JldA==", "Basic c2VjcmV0", "Basic //86/w=="])
    func otherAuthorizationsAreNoLogin(text: String) {
        #expect(Login(authorization: text) == nil)
        #expect(Login(authorization: nil) == nil)
    }

    @Test func aPasswordMayHaveColons() throws {
        let login = try login("a", "b:c")
        #expect(login.user == "a" && login.password == "b:c")
    }
}
