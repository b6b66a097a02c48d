import Foundation
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
            #expect(await check.check(try login("a", "right"), among: users) { true } == .right)
            #expect(await check.check(try login("a", "wrong"), among: users) { true } == .wrong)
        }
        #expect(work.checks.withLock { $0 } == 4)
    }

    /// What is remembered holds for the user, the hash and the password together.
    @Test func aChangedHashIsCheckedAgain() async throws {
        let check = check
        #expect(await check.check(try login("a", "right"), among: users) { true } == .right)
        #expect(await check.check(try login("b", "right"), among: users) { true } == .right)
        let changed = ["a": try #require(users["b"])]
        #expect(await check.check(try login("a", "right"), among: changed) { true } == .right)
        #expect(work.checks.withLock { $0 } == 3)
        #expect(await check.check(try login("a", "right"), among: [:]) { true } == .wrong)
    }

    /// Who asks for names cannot tell which exist by the time of the answer.
    @Test func anUnknownUserCostsAsMuchAsTheSlowestHash() async throws {
        #expect(await check.check(try login("c", "right"), among: users) { true } == .wrong)
        #expect(work.wasted.withLock { $0 } == [12])
        #expect(work.checks.withLock { $0 } == 0)
    }

    @Test func onlySoManyPasswordsAreRemembered() async throws {
        let check = check
        let names = (0...PasswordCheck.memoryLimit).map { "user\($0)" }
        let users = Dictionary(uniqueKeysWithValues: names.map { ($0, WebServer.secretHash) })
        for name in names { #expect(await check.check(try login(name, "right"), among: users) { true } == .right) }
        #expect(await check.check(try login("user1", "right"), among: users) { true } == .right)
        #expect(work.checks.withLock { $0 } == names.count)
        #expect(await check.check(try login("user0", "right"), among: users) { true } == .right)
        #expect(work.checks.withLock { $0 } == names.count + 1)
    }

    @Test func oneCheckRunsAtATimeAndOnlySoManyWait() async throws {
        let gate = DispatchSemaphore(value: 0)
        let running = Mutex((now: 0, most: 0))
        let check = PasswordCheck { _, _ in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            gate.wait()
            running.withLock { $0.now -= 1 }
            return false
        } waste: { _, _ in
        }
        let outcomes = try await withThrowingTaskGroup(of: PasswordCheck.Outcome.self) { group in
            let login = try login("a", "wrong")
            for _ in 0..<PasswordCheck.queueLimit + 8 {
                group.addTask { [users] in await check.check(login, among: users) { true } }
            }
            var outcomes: [PasswordCheck.Outcome] = []
            for _ in 0..<8 { outcomes.append(try #require(try await group.next())) }
            #expect(outcomes.allSatisfy { $0 == .busy })
            for _ in 0..<PasswordCheck.queueLimit { gate.signal() }
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        #expect(outcomes.count { $0 == .wrong } == PasswordCheck.queueLimit)
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func aCheckThatNobodyWantsAnyMoreIsNotMade() async throws {
        #expect(await check.check(try login("a", "right"), among: users) { false } == .abandoned)
        #expect(work.checks.withLock { $0 } == 0)
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
