import StarwatchCore
import StarwatchPolling
import Synchronization

/// The last answer of a host, by which hosts take turns: one that answers goes first, one that fails last.
enum HostStanding: Int, Comparable {
    case answers, unknown, fails

    static func < (left: HostStanding, right: HostStanding) -> Bool { left.rawValue < right.rawValue }
}

/// The attempts at addresses of accounts that are in flight. Receivers that hang take only a share of the slots, so they
/// keep no other account waiting.
final class DeliverySlots: Sendable {
    /// The largest number of attempts at one host at a time.
    static let perHost = 8
    /// The longest wait for a slot. Then the visit ends, so that waiting accounts need no memory.
    static let longestWait = Duration.seconds(5)
    /// The time after which an attempt without a slot is made again.
    static let retry = Duration.seconds(10)
    /// The largest number of attempts, if the process may open enough files.
    static let most = 640

    private typealias Waiter = (host: String, standing: HostStanding, turn: Promise<Bool>)
    /// The queue is in order of arrival.
    private typealias State = (taken: Int, hosts: [String: Int], queue: [Waiter])

    private let limit: Int
    private let state = Mutex<State>((0, [:], []))

    /// - Parameter files: The number of files that the process may open. An attempt needs one.
    init(files: Int) { limit = max(16, min(Self.most, files / 2)) }

    /// Waits for a slot, which must end with ``leave(_:)``.
    ///
    /// - Returns: `false` if none was free in time, or if the task was cancelled.
    func enter(_ host: String, _ standing: HostStanding, on time: any TimeSource) async -> Bool {
        let waiter: Waiter = (host, standing, Promise())
        let isFree = state.withLock { state in
            guard !state.queue.contains(where: { $0.standing <= standing && fits($0, state) }), fits(waiter, state)
            else {
                state.queue.append(waiter)
                return false
            }
            state.taken += 1
            state.hosts[host, default: 0] += 1
            return true
        }
        if isFree { return true }
        let timer = Task {
            try? await time.sleep(for: Self.longestWait)
            if state.withLock({ Self.remove(waiter, &$0) }) { waiter.turn.fulfil(false) }
        }
        defer { timer.cancel() }
        if let isGiven = await waiter.turn.value() { return isGiven }
        if state.withLock({ Self.remove(waiter, &$0) }) { return false }
        // The slot came together with the cancellation, so it passes to the next.
        if await waiter.turn.outcome() == true { leave(host) }
        return false
    }

    func leave(_ host: String) {
        let next = state.withLock { state -> Waiter? in
            state.taken -= 1
            let others = (state.hosts[host] ?? 1) - 1
            state.hosts[host] = others > 0 ? others : nil
            guard let next = state.queue.filter({ fits($0, state) }).min(by: { $0.standing < $1.standing }) else {
                return nil
            }
            _ = Self.remove(next, &state)
            state.taken += 1
            state.hosts[next.host, default: 0] += 1
            return next
        }
        next?.turn.fulfil(true)
    }

    /// A tenth of the slots is for hosts that answered last, however many others hang.
    private func fits(_ waiter: Waiter, _ state: State) -> Bool {
        let room = waiter.standing == .answers ? limit : limit - limit / 10
        return state.taken < room && (state.hosts[waiter.host] ?? 0) < Self.perHost
    }

    private static func remove(_ waiter: Waiter, _ state: inout State) -> Bool {
        guard let index = state.queue.firstIndex(where: { $0.turn === waiter.turn }) else { return false }
        state.queue.remove(at: index)
        return true
    }
}
