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
