import StarwatchStore

@testable import Starwatch

extension Agent {
    /// Lets time pass, then visits every account that is due, one after the other.
    ///
    /// - Returns: The number of visits.
    @discardableResult
    func visitAll(after time: Duration, on clock: ManualClock) async -> Int {
        clock.advance(by: time)
        var visits = 0
        // A visit that waits moves a jumping clock, so that others become due.
        while visits < 100, let service = fleet?.service, case let leases = await service.claim(), !leases.isEmpty {
            for lease in leases { await service.visit(lease) }
            visits += leases.count
        }
        return visits
    }
}
