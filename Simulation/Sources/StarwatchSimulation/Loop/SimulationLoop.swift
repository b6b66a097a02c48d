import Glibc

/// Runs every job of a simulation on one thread, in an order that a seed decides.
///
/// At each step it picks one of all the jobs that could run, so that any interleaving at an `await` can happen, and
/// the same one happens again with the same seed. What was put on a lane keeps its order.
///
/// Its state is looked at some thirty times in a poll cycle, and never twice at once: exclusivity is not checked.
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

    /// Which loop owns this thread, at no more than the cost of a comparison; `nil` on every other thread.
    static var currentIdentity: Identity? { pthread_getspecific(key) }

    /// The loop of this thread; `nil` on every other thread.
    static var current: SimulationLoop? {
        currentIdentity.map { Unmanaged<SimulationLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Gives this thread's jobs to the loop for as long as `body` runs.
    func own<T>(_ body: () throws -> T) rethrows -> T {
        JobHook.install()
        precondition(Self.current == nil, "a loop already owns this thread")
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { pthread_setspecific(Self.key, nil) }
        return try body()
    }

    // MARK: - Jobs

    func enqueue(_ job: UnownedJob) { jobs.append(job) }

    /// Takes a lane that has something to do since now.
    func enqueue(_ lane: Lane) { lanes.append(lane) }

    /// Calls `action` before the step that comes after so many others.
    func interrupt(after count: Int, _ action: @escaping () -> Void) {
        alarm = (steps + count, action)
    }

    /// Runs one job; `false` when there is none.
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

    /// The executor of jobs that belong to none: the runtime's own representation of it is two zero words.
    private static let generic = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
}
