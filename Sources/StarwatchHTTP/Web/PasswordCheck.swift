import CCrypt
import Crypto
import Dispatch
import FoundationEssentials
import Glibc
import ServiceLifecycle
import StarwatchCore
import StarwatchPolling
import Synchronization

/// The check of users' passwords.
///
/// bcrypt is slow by design. It runs on a thread of its own, one check at a time, so that wrong passwords never delay
/// other answers, and clients take turns, so that those of one never delay those of another for long. A password that was
/// right is remembered as a keyed hash, so that a scraper waits once.
final class PasswordCheck: Sendable {
    enum Outcome: Sendable {
        case right, wrong
        /// Too many checks wait.
        case busy
    }

    /// The number of checks that can wait. A connection waits for one, so one client fills it with as many connections.
    static let queueLimit = 64
    /// The number of passwords that are remembered.
    static let memoryLimit = 128

    /// A check that waits for its turn, or runs. Its first outcome is its answer.
    private typealias Job = (login: Login, users: [String: String], answer: Promise<Outcome>)

    /// The logins that share a turn: those of a client, with a part of all names. Whoever guesses for many names delays
    /// others of the same address a little only.
    private struct Turn: Hashable {
        var client: ClientNetwork
        var part: UInt8
    }

    private let queue = DispatchQueue(label: "starwatch.passwords")
    private let key = SymmetricKey(size: .bits256)
    private let known = Mutex<[[UInt8]]>([])
    private let waiting = Mutex(FairQueue<Turn, Job>(limit: queueLimit))
    private let matches: @Sendable (_ password: String, _ hash: String) -> Bool
    private let waste: @Sendable (_ password: String, _ cost: Int) -> Void

    convenience init() { self.init(matches: Bcrypt.matches, waste: Bcrypt.waste) }

    /// - Parameters:
    ///   - matches: The slow check.
    ///   - waste: Takes the time of a check, for a user who does not exist.
    init(matches: @escaping @Sendable (String, String) -> Bool, waste: @escaping @Sendable (String, Int) -> Void) {
        self.matches = matches
        self.waste = waste
    }

    /// Checks a password.
    ///
    /// - Parameters:
    ///   - client: The client whose turn it takes.
    ///   - users: The hashes by name. A wrong password and an unknown name take as long as the highest cost of them.
    /// - Returns: ``Outcome/busy`` if too many checks wait, and if the task is cancelled or its server stops, because a stop
    ///   does not wait for strangers.
    func check(_ login: Login, of client: ClientNetwork, among users: [String: String]) async -> Outcome {
        if isKnown(login, among: users) { return .right }
        let job: Job = (login, users, Promise())
        // Known names and others share the parts alike, so that an answer tells nothing about a name.
        let name = HMAC<SHA256>.authenticationCode(for: Array(login.user.utf8), using: key)
        let turn = Turn(client: client, part: (name.first { _ in true } ?? 0) % 16)
        return await withTaskCancellationOrGracefulShutdownHandler {
            let lost = waiting.withLock { $0.add(job, of: turn) }
            // Each place has one block, and a job that takes another's place takes its block too.
            if let lost { lost.answer.fulfil(.busy) } else { queue.async { [self] in decideNext() } }
            return await job.answer.outcome() ?? .busy
        } onCancelOrGracefulShutdown: {
            job.answer.fulfil(.busy)
        }
    }

    private func decideNext() {
        // Nobody waits any more for one that has an answer.
        guard let job = waiting.withLock({ $0.next() }), !job.answer.isSettled else { return }
        job.answer.fulfil(decide(job.login, among: job.users))
    }

    private func decide(_ login: Login, among users: [String: String]) -> Outcome {
        let highest = users.values.compactMap(Bcrypt.cost).max() ?? 10
        guard let hash = users[login.user] else {
            waste(login.password, highest)
            return .wrong
        }
        // An equal request can have been checked meanwhile.
        if isKnown(login, among: users) { return .right }
        guard matches(login.password, hash) else {
            // Each cost takes twice as long as the one below, so these add up to the highest.
            for cost in (Bcrypt.cost(of: hash) ?? highest)..<highest { waste(login.password, cost) }
            return .wrong
        }
        let tag = fingerprint(of: login, hash: hash)
        known.withLock { known in
            if known.count >= Self.memoryLimit { known.removeFirst() }
            known.append(tag)
        }
        return .right
    }

    private func isKnown(_ login: Login, among users: [String: String]) -> Bool {
        guard let hash = users[login.user] else { return false }
        let tag = fingerprint(of: login, hash: hash)
        return known.withLock { $0.contains(tag) }
    }

    /// A hash of the login with a key of this process. A changed password hash makes another one.
    private func fingerprint(of login: Login, hash: String) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        for text in [login.user, hash, login.password] {
            let bytes = Array(text.utf8)
            code.update(data: withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) })
            code.update(data: bytes)
        }
        return Array(code.finalize())
    }
}

/// A user name and a password, as a request gives them.
struct Login: Sendable, Hashable {
    var user: String
    var password: String

    /// Parses an `Authorization` header; `nil` if it is no Basic one.
    init?(authorization: String?) {
        guard let authorization, authorization.prefix(6).lowercased() == "basic ",
            let data = Data(base64Encoded: String(authorization.dropFirst(6))),
            let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        user = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }
}

/// The check of a password against a bcrypt hash, by the system's libcrypt.
package enum Bcrypt {
    /// The highest accepted cost. A check of it takes about a second, and of every higher one twice as long.
    package static let maximumCost = 14

    /// The cost of a hash; `nil` if the text is no bcrypt hash of an accepted kind.
    package static func cost(of hash: String) -> Int? {
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]), parts[2].utf8.count == 2,
            let cost = Int(parts[2]), (4...31).contains(cost), parts[3].utf8.count == 53,
            parts[3].utf8.allSatisfy({ $0 == 46 || $0 == 47 || $0.isAlphanumeric })
        else { return nil }
        return cost
    }

    /// Returns whether the password has the hash. Takes 50 ms or more, so it must not run on an event loop.
    static func matches(_ password: String, _ hash: String) -> Bool {
        // The password ends at a NUL for the library, so another one would match too.
        guard !password.utf8.contains(0), let computed = crypt(password, hash) else { return false }
        return Array(computed.utf8).isEqual(toSecret: Array(hash.utf8))
    }

    /// Takes as long as the check of a password against a hash of `cost`.
    static func waste(_ password: String, cost: Int) {
        let digits = (cost < 10 ? "0" : "") + String(cost)
        _ = crypt(password.utf8.contains(0) ? "" : password, "$2b$\(digits)$" + String(repeating: ".", count: 22))
    }

    private static func crypt(_ password: String, _ setting: String) -> String? {
        var memory: UnsafeMutableRawPointer?
        var size: Int32 = 0
        defer {
            if let memory {
                explicit_bzero(memory, Int(size))
                free(memory)
            }
        }
        guard let text = crypt_ra(password, setting, &memory, &size) else { return nil }
        return String(cString: text)
    }
}

extension [UInt8] {
    /// Compares secrets in constant time, so that the time does not reveal the first wrong byte. It does reveal the length.
    func isEqual(toSecret other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for i in indices { difference |= self[i] ^ other[i] }
        return difference == 0
    }
}

/// A queue that serves its clients in turn: one job of each, then the next of each.
///
/// If it is full, the client with the most jobs loses its newest. So nobody can fill it for another.
struct FairQueue<Client: Hashable, Job> {
    private let limit: Int
    private var jobs: [Client: [Job]] = [:]
    /// The clients with jobs, the next one first.
    private var turns: [Client] = []
    private(set) var count = 0

    init(limit: Int) { self.limit = limit }

    /// Adds a job.
    ///
    /// - Returns: The job that lost its place, which can be this one; `nil` if there was room.
    mutating func add(_ job: Job, of client: Client) -> Job? {
        var lost: Job?
        if count >= limit {
            guard let largest = jobs.max(by: { $0.value.count < $1.value.count }), let last = largest.value.last,
                largest.value.count > (jobs[client]?.count ?? 0) + 1
            else { return job }
            remove(of: largest.key) { $0.removeLast() }
            lost = last
        }
        if jobs[client] == nil { turns.append(client) }
        jobs[client, default: []].append(job)
        count += 1
        return lost
    }

    /// Removes the next job; `nil` if there is none.
    mutating func next() -> Job? {
        guard let client = turns.first, let job = jobs[client]?.first else { return nil }
        turns.removeFirst()
        if let waiting = jobs[client], waiting.count > 1 { turns.append(client) }
        remove(of: client) { $0.removeFirst() }
        return job
    }

    private mutating func remove(of client: Client, _ change: (inout [Job]) -> Void) {
        guard var waiting = jobs[client] else { return }
        change(&waiting)
        count -= 1
        jobs[client] = waiting.isEmpty ? nil : waiting
    }
}

extension FairQueue: Sendable where Client: Sendable, Job: Sendable {}
