import StarwatchStore

/// Serial executor on the loop, which runs the store's work in order.
final class Lane: StoreQueue {
    private enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct State {
        var waiting: [Work] = []
        var isRunning = false
        var isHeld = false
    }

    private let state = Confined(State())

    func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    func run(_ work: @escaping @Sendable () -> Void) { add(.closure(work)) }

    /// At any later moment: the order of jobs is random.
    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) { add(.closure(work)) }

    func checkIsolated() { precondition(state.value.isRunning, "not on the store's lane") }

    private func add(_ work: Work) {
        state.value.waiting.append(work)
        if state.value.waiting.count == 1, !state.value.isHeld { SimulationLoop.current?.enqueue(self) }
    }

    /// Lets all work wait until ``release()``.
    func hold() {
        guard !state.value.isHeld else { return }
        state.value.isHeld = true
        SimulationLoop.current?.remove(self)
    }

    func release() {
        guard state.value.isHeld else { return }
        state.value.isHeld = false
        if !state.value.waiting.isEmpty { SimulationLoop.current?.enqueue(self) }
    }

    /// `true` if the lane is empty after the next ``runFirst()``.
    var isLastWaiting: Bool { state.value.waiting.count == 1 }

    func runFirst() {
        let work = state.value.waiting.removeFirst()
        state.value.isRunning = true
        defer { state.value.isRunning = false }
        switch work {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .closure(let closure): closure()
        }
    }
}
