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
        group.end(isStored: true)
        #expect(group.isCovered(first) && group.isCovered(second))
        #expect(!group.isCovered(late) && !group.isWriting)
    }

    @Test func aWriteThatFailedCoversNobody() {
        var group = GroupCommit()
        let first = group.enter()
        group.begin()
        group.end(isStored: false)
        #expect(!group.isCovered(first))
        group.begin()
        group.end(isStored: true)
        #expect(group.isCovered(first))
    }

    @Test(arguments: [true, false])
    func whoWaitsIsToldHowTheWriteEnded(isStored: Bool) async {
        let commit = Waiters()
        let answers = await withTaskGroup(of: Bool.self) { tasks in
            await commit.begin()
            for _ in 0..<5 { tasks.addTask { await commit.wait() } }
            await commit.end(after: 5, isStored: isStored)
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: isStored, count: 5))
    }

    private actor Waiters {
        private var group = GroupCommit()
        private var waiting = 0
        private var all: CheckedContinuation<Void, Never>?

        func begin() { group.begin() }

        func wait() async -> Bool {
            waiting += 1
            if waiting == 5 { all?.resume() }
            return await withCheckedContinuation { group.wait($0) }
        }

        func end(after count: Int, isStored: Bool) async {
            if waiting < count { await withCheckedContinuation { all = $0 } }
            group.end(isStored: isStored)
        }
    }
}
