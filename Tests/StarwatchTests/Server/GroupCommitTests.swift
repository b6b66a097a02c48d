import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct GroupCommitTests {
    @Test func aWriteCoversWhoEnteredBeforeItBeganAndNobodyElse() {
        var group = GroupCommit()
        let (first, second) = (group.enter(), group.enter())
        group.begin()
        #expect(group.isWriting)
        let late = group.enter()
        #expect(!group.isCovered(first))
        group.end(nil)
        #expect(group.isCovered(first) && group.isCovered(second))
        #expect(!group.isCovered(late) && !group.isWriting)
    }

    @Test func aWriteThatFailedCoversNobody() {
        var group = GroupCommit()
        let first = group.enter()
        group.begin()
        group.end(.busy)
        #expect(!group.isCovered(first))
        group.begin()
        group.end(nil)
        #expect(group.isCovered(first))
    }

    @Test(arguments: [StoreError.busy, nil])
    func whoWaitsIsToldHowTheWriteEnded(failure: StoreError?) async {
        let commit = Waiters()
        let answers = await withTaskGroup(of: StoreError?.self) { tasks in
            await commit.begin()
            for _ in 0..<5 { tasks.addTask { await commit.wait() } }
            await commit.end(after: 5, failure)
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: failure, count: 5))
    }

    private actor Waiters {
        private var group = GroupCommit()
        private var waiting = 0
        private var all: CheckedContinuation<Void, Never>?

        func begin() { group.begin() }

        func wait() async -> StoreError? {
            waiting += 1
            if waiting == 5 { all?.resume() }
            return await withCheckedContinuation { group.wait($0) }
        }

        func end(after count: Int, _ failure: StoreError?) async {
            if waiting < count { await withCheckedContinuation { all = $0 } }
            group.end(failure)
        }
    }
}
