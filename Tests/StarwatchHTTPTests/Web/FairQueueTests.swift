import Testing

@testable import StarwatchHTTP

@Suite
struct FairQueueTests {
    private func drained(_ queue: FairQueue<String, Int>) -> [Int] {
        var (queue, jobs) = (queue, [Int]())
        while let job = queue.next() { jobs.append(job) }
        return jobs
    }

    @Test func clientsTakeTurns() {
        var queue = FairQueue<String, Int>(limit: 10)
        for job in 1...3 { #expect(queue.add(job, of: "a") == nil) }
        #expect(queue.add(10, of: "b") == nil)
        #expect(queue.add(20, of: "c") == nil)
        #expect(queue.count == 5)
        #expect(drained(queue) == [1, 10, 20, 2, 3])
    }

    @Test func aFullQueueTakesThePlaceOfTheLargestClient() {
        var queue = FairQueue<String, Int>(limit: 4)
        for job in 1...4 { _ = queue.add(job, of: "a") }
        #expect(queue.add(5, of: "a") == 5)
        #expect(queue.add(10, of: "b") == 4)
        #expect(queue.add(11, of: "b") == 3)
        // Both have their share now.
        #expect(queue.add(12, of: "b") == 12)
        #expect(queue.add(3, of: "a") == 3)
        #expect(queue.count == 4)
        #expect(drained(queue) == [1, 10, 2, 11])
    }

    /// Equal shares stay as they are, so that two clients do not take each other's places.
    @Test func aClientWithItsShareGetsNoMore() {
        var queue = FairQueue<String, Int>(limit: 4)
        for job in 1...2 { _ = queue.add(job, of: "a") }
        for job in 11...12 { _ = queue.add(job, of: "b") }
        #expect(queue.add(3, of: "a") == 3)
        #expect(queue.add(20, of: "c") != 20)
        #expect(queue.count == 4)
    }

    @Test func anEmptyQueueHasNoNextJob() {
        var queue = FairQueue<String, Int>(limit: 1)
        #expect(queue.next() == nil)
        _ = queue.add(1, of: "a")
        #expect(queue.next() == 1)
        #expect(queue.next() == nil)
        #expect(queue.count == 0)
    }
}
