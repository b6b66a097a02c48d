import Glibc

/// Runs every job of a simulation on one thread, in an order derived from a seed.
///
/// Each step picks one of the jobs that can run. Any interleaving at an `await` can therefore happen, and the same seed
/// repeats it. A lane keeps the order of its work.
///
/// Exclusivity is not checked: a poll cycle accesses the state about thirty times, and never twice at once.
final class SimulationLoop {
    @exclusivity(unchecked) private var chance: Chance
    @exclusivity(unchecked) private var jobs: [UnownedJob] = []
    @exclusivity(unchecked) private var lanes: [Lane] = []
    @exclusivity(unchecked) private(set) var steps = 0
    @exclusivity(unchecked) private var alarm: (step: Int, action: () -> Void)?

    init(chance: Chance) {
        self.chance = chance
    }

    // MARK: - The thread

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    typealias Identity = UnsafeMutableRawPointer

    /// Identity of the loop that owns this thread; `nil` on other threads. Reading it costs no reference counting.
    static var currentIdentity: Identity? { pthread_getspecific(key) }

    /// Loop that owns this thread; `nil` on other threads.
    static var current: SimulationLoop? {
        currentIdentity.map { Unmanaged<SimulationLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes the loop own this thread while `body` runs.
    func own<T>(_ body: () throws -> T) rethrows -> T {
        JobHook.install()
        precondition(Self.current == nil, "a loop already owns this thread")
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, nil) }
        return try body()
    }

    // MARK: - Jobs

    func enqueue(_ job: UnownedJob) { jobs.append(job) }

    /// Adds a lane that was empty and now has work.
    func enqueue(_ lane: Lane) { lanes.append(lane) }

    /// Removes a lane, so that its work waits.
    func remove(_ lane: Lane) { lanes.removeAll { $0 === lane } }

    /// Calls `action` after `count` more steps.
    func interrupt(after count: Int, _ action: @escaping () -> Void) {
        alarm = (steps + count, action)
    }

    /// Runs one job; returns `false` if there is none.
    func step() -> Bool {
        if let alarm, steps >= alarm.step {
            self.alarm = nil
            alarm.action()
        }
        let count = jobs.count + lanes.count
        guard count > 0 else { return false }
        steps += 1
        let index = count == 1 ? 0 : chance.below(count)
        if index < jobs.count {
            jobs.swapAt(index, jobs.count - 1)
            jobs.removeLast().runSynchronously(on: Self.generic)
        } else {
            let lane = lanes[index - jobs.count]
            if lane.isLastWaiting { lanes.remove(at: index - jobs.count) }
            lane.runFirst()
        }
        return true
    }

    /// Executor for jobs without one, which the runtime represents as two zero words.
    private static let generic = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
}
