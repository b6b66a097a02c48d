import Foundation
import NIOConcurrencyHelpers

extension MockServer {
    // MARK: Content

    /// The catalogue, in its order, each plan as it is now.
    public var plans: [MockPlan] { state.withLockedValue { $0.plans } }

    /// The ids of the catalogue's plans.
    public var planIDs: [String] { plans.map(\.id) }

    /// Replaces the catalogue. What was published stays published.
    public func setPlanCatalogue(_ plans: [MockPlan]) {
        state.withLockedValue { $0.setCatalogue(plans) }
    }

    /// Publishes changes to the catalogue's plans in turn.
    ///
    /// - Parameters:
    ///   - count: How many. With an empty catalogue there are none.
    ///   - age: How old the ids are; see ``MockChange/age``.
    ///   - visibleAfter: When they begin to show; see ``MockChange/visibleAfter``.
    /// - Returns: The changes' ids. They ascend where `age` is zero.
    @discardableResult
    public func publish(count: Int, age: Duration = .zero, visibleAfter: Duration = .zero) -> [String] {
        state.withLockedValue { $0.publish(count: count, age: age, visibleAfter: visibleAfter) }
    }

    /// Publishes these changes and returns their ids, in the same order.
    @discardableResult
    public func publish(_ changes: [MockChange]) -> [String] {
        state.withLockedValue { state in changes.map { state.publish($0) } }
    }

    /// Publishes offers to the catalogue's plans in turn.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - recipientDID: Whom they are offered to; `nil`: the owner of the options.
    /// - Returns: The offers' ids, ascending.
    @discardableResult
    public func publishOffers(count: Int, to recipientDID: String? = nil) -> [String] {
        state.withLockedValue { $0.publishOffers(count: count, to: recipientDID) }
    }

    /// Every change's id ever published, in the order of publishing, those not yet visible included.
    public var publishedIDs: [String] { state.withLockedValue { $0.publishedIDs } }

    /// Every acknowledged id, in the order of acknowledgement.
    public var acknowledgedIDs: [String] { state.withLockedValue { $0.book.order } }

    /// How many requests acknowledged something; replays and repetitions do not count.
    public var appliedAcknowledgements: Int { state.withLockedValue { $0.book.applied } }

    /// What `/content` answers, as JSON. Another text has another ETag.
    public var content: String {
        get { state.withLockedValue { $0.content } }
        set { state.withLockedValue { $0.content = newValue } }
    }

    // MARK: Faults and time

    /// Scripts faults for the next requests of an endpoint, one each, after those already scripted.
    public func script(_ faults: MockFault..., at endpoint: MockEndpoint) {
        state.withLockedValue { state in
            for fault in faults { state.prepare(fault) }
            state.faults.enqueue(faults, for: endpoint)
        }
    }

    /// Sets the fault of all requests of an endpoint for which none is scripted; `nil` ends it.
    public func setStickyFault(_ fault: MockFault?, at endpoint: MockEndpoint) {
        state.withLockedValue { state in
            if let fault { state.prepare(fault) }
            state.faults.stick(fault, to: endpoint)
        }
    }

    /// The number of faults scripted for an endpoint and not yet used.
    public func remainingFaults(at endpoint: MockEndpoint) -> Int {
        state.withLockedValue { $0.faults.remaining(for: endpoint) }
    }

    /// Ends all faults, scripted and sticky.
    public func clearFaults() {
        state.withLockedValue { $0.faults.clear() }
    }

    /// How far the mock's clock is ahead of the clock of its options.
    public var clockSkew: Duration {
        get { state.withLockedValue { $0.clockSkew } }
        set { state.withLockedValue { $0.clockSkew = newValue } }
    }

    // MARK: What came in

    /// The recorded requests for which `predicate` holds, oldest first. It runs outside the mock's lock.
    public func requests(matching predicate: (RecordedRequest) -> Bool = { _ in true }) -> [RecordedRequest] {
        state.withLockedValue { $0.requests.requests }.filter(predicate)
    }

    /// The recorded requests to one endpoint, oldest first.
    public func requests(to endpoint: MockEndpoint) -> [RecordedRequest] {
        requests { $0.endpoint == endpoint }
    }

    /// How many requests an endpoint has had since the start or ``forgetRequests()``.
    public func requestCount(of endpoint: MockEndpoint) -> Int {
        state.withLockedValue { $0.requests.counts[endpoint] ?? 0 }
    }

    /// Returns as soon as an endpoint has had `count` requests since the start or ``forgetRequests()``.
    ///
    /// The requests' effects are there by then; their answers may still be on their way.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func waitForRequests(_ count: Int, to endpoint: MockEndpoint) async throws {
        let state = self.state
        let key = state.withLockedValue { $0.requests.makeKey() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLockedValue { value in
                    value.requests.wait(
                        .init(count: count, endpoint: endpoint, continuation: continuation),
                        key: key
                    )
                    if Task.isCancelled { value.requests.cancel(key) }
                }
            }
        } onCancel: {
            state.withLockedValue { $0.requests.cancel(key) }
        }
    }

    /// Empties the record of requests and their counts.
    public func forgetRequests() {
        state.withLockedValue { $0.requests.forget() }
    }

    /// What the webhook receiver at `/hook` accepted, in the order of first delivery.
    public var receivedNotifications: [ReceivedNotification] { state.withLockedValue { $0.hooks.notifications } }

    /// How many deliveries the webhook receiver refused for what they were, scripted faults apart.
    public var refusedNotifications: Int { state.withLockedValue { $0.hooks.refused } }
}
