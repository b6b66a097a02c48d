import StarwatchCore
import StarwatchPolling
import Synchronization

@testable import Starwatch

/// The number of polls at work.
final class Turns: Sendable {
    private let count = Atomic(0)

    func counting(_ part: VisitPart) -> VisitPart {
        VisitPart(
            name: part.name,
            wake: part.wake,
            executor: part.executor,
            turn: {
                self.count.add(1, ordering: .relaxed)
                defer { self.count.subtract(1, ordering: .relaxed) }
                return await part.turn()
            },
            cancel: part.cancel
        )
    }

    /// Whether one of two polls works and does not sleep. The visit sleeps as long as one of them rests.
    func ofTwoIsBusy(_ clock: ManualClock) -> Bool {
        let count = count.load(ordering: .relaxed)
        return clock.sleeperCount < min(count + 1, 2)
    }
}

extension Agent {
    /// The work of some parts of the account until the task is cancelled.
    func work(_ names: VisitPart.Name..., polls turns: Turns? = nil) async throws {
        let polls = (turns == nil ? [] : runtime.polls).map {
            ScheduledPoll($0, of: runtime.pollService, isLasting: true, extra: nil).part
        }
        let parts = polls.map { turns?.counting($0) ?? $0 } + runtime.parts.filter { names.contains($0.name) }
        try await SoleVisit(of: runtime, polls: [], parts: parts).run()
    }
}

/// Runs the schedules while `body` lets time pass, then stops them.
func following(_ agent: Agent, _ turns: Turns = Turns(), _ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await agent.work(polls: turns) }
        let result: Result<Void, any Error>
        do {
            try await body()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        group.cancelAll()
        try await group.waitForAll()
        try result.get()
    }
}
