import Foundation
import NIOConcurrencyHelpers

extension MockServer {
    // MARK: Content

    /// The catalogue in order, each plan in its current version.
    public var plans: [MockPlan] { state.withLockedValue { $0.catalogue.plans } }

    /// The identifiers of the catalogue's plans.
    public var planIDs: [String] { plans.map(\.id) }

    /// Replaces the catalogue. Published changes stay published.
    public func setPlanCatalogue(_ plans: [MockPlan]) {
        state.withLockedValue { $0.catalogue.replace(by: plans) }
    }

    /// Publishes changes to the catalogue's plans in turn.
    ///
    /// - Parameters:
    ///   - count: Number of changes. An empty catalogue has none.
    ///   - age: Age of the identifiers; see ``MockChange/age``.
    ///   - visibleAfter: Delay of their visibility; see ``MockChange/visibleAfter``.
    /// - Returns: The changes' identifiers, ascending if `age` is zero.
    @discardableResult
    public func publish(count: Int, age: Duration = .zero, visibleAfter: Duration = .zero) -> [String] {
        state.withLockedValue { $0.publish(count: count, age: age, visibleAfter: visibleAfter) }
    }

    /// Publishes these changes and returns their identifiers in the same order.
    @discardableResult
    public func publish(_ changes: [MockChange]) -> [String] {
        state.withLockedValue { state in changes.map { state.publish($0) } }
    }

    /// Publishes offers to the catalogue's plans in turn.
    ///
    /// - Parameters:
    ///   - count: Number of offers. An empty catalogue has none.
    ///   - recipientDID: The recipient; `nil` for the options' owner.
    ///   - offererDID: The person who makes them; `nil` for a random one.
    ///   - link: The way in which each names its plan; `nil` for `fulfills` and `isPartOf` in turn.
    /// - Returns: The offers' identifiers, ascending.
    @discardableResult
    public func publishOffers(
        count: Int,
        to recipientDID: String? = nil,
        by offererDID: String? = nil,
        link: MockOfferLink? = nil
    ) -> [String] {
        state.withLockedValue { $0.publishOffers(count: count, to: recipientDID, by: offererDID, link: link) }
    }

    /// Publishes one offer, as anybody can write it.
    ///
    /// - Parameters:
    ///   - claim: The JSON of the claim; `nil` makes one.
    ///   - handleID: The handle of an offer for no plan; `nil` makes an offer for the catalogue's first plan.
    ///   - recipientDID: The recipient; `nil` for the options' owner.
    /// - Returns: The offer's identifier.
    @discardableResult
    public func publishOffer(claim: String? = nil, handleID: String? = nil, to recipientDID: String? = nil) -> String {
        state.withLockedValue { $0.publishOffer(claim: claim, handleID: handleID, to: recipientDID) }
    }

    /// Publishes gifts to the catalogue's plans in turn.
    ///
    /// - Parameters:
    ///   - count: Number of gifts. An empty catalogue has none.
    ///   - recipientDID: The recipient; `nil` for the options' owner.
    ///   - giverDID: The person who gives; `nil` for a random one.
    /// - Returns: The gifts' identifiers, ascending.
    @discardableResult
    public func publishGives(count: Int, to recipientDID: String? = nil, by giverDID: String? = nil) -> [String] {
        state.withLockedValue { $0.publishGives(count: count, to: recipientDID, by: giverDID) }
    }

    /// Publishes one gift to a person.
    ///
    /// - Parameters:
    ///   - handleID: The gift's handle, that of an earlier one for an edition; `nil` makes one.
    ///   - hasPlan: Whether it is for the catalogue's first plan.
    ///   - offerHandleID: The handle of the offer that it honours; `nil` for none.
    ///   - recipientDID: The recipient; `nil` for the options' owner.
    /// - Returns: The gift's identifier.
    @discardableResult
    public func publishGive(
        handleID: String? = nil,
        hasPlan: Bool = false,
        fulfilling offerHandleID: String? = nil,
        to recipientDID: String? = nil
    ) -> String {
        state.withLockedValue {
            $0.publishGive(handleID: handleID, hasPlan: hasPlan, fulfilling: offerHandleID, to: recipientDID)
        }
    }

    /// Identifiers of all changes in the order of publication, including those not yet visible.
    public var publishedIDs: [String] { state.withLockedValue { $0.log.publishedIDs } }

    /// All acknowledged identifiers in the order of acknowledgement.
    public var acknowledgedIDs: [String] { state.withLockedValue { $0.book.order } }

    /// Number of requests that acknowledged something new. Replays and repetitions do not count.
    public var appliedAcknowledgements: Int { state.withLockedValue { $0.book.applied } }

    /// The JSON body of `/content`. A new text has a new ETag.
    public var content: String {
        get { state.withLockedValue { $0.others.digest } }
        set { state.withLockedValue { $0.others.digest = newValue } }
    }

    /// Changes the list at a path. An unknown path is ignored.
    public func edit(_ path: String, _ change: (inout MockList) -> Void) {
        state.withLockedValue { state in
            if state.others.lists[path] != nil { change(&state.others.lists[path]!) }
        }
    }

    // MARK: Faults and time

    /// Scripts faults for the next requests of an endpoint, one each, after those already scripted.
    public func script(_ faults: MockFault..., at endpoint: MockEndpoint) {
        state.withLockedValue { $0.faults.enqueue(faults, for: endpoint) }
    }

    /// Sets the fault of all requests of an endpoint without a scripted one; `nil` removes it.
    public func setStickyFault(_ fault: MockFault?, at endpoint: MockEndpoint) {
        state.withLockedValue { $0.faults.stick(fault, to: endpoint) }
    }

    /// Number of faults scripted for an endpoint and not yet used.
    public func remainingFaults(at endpoint: MockEndpoint) -> Int {
        state.withLockedValue { $0.faults.remaining(for: endpoint) }
    }

    /// Removes all scripted and sticky faults.
    public func clearFaults() { state.withLockedValue { $0.faults.clear() } }

    /// Accepts other tokens from now on, as after a rotation of the secret.
    public func setAuth(_ auth: MockAuth) { state.withLockedValue { $0.setAuth(auth) } }

    /// Lead of the mock's clock over the options' clock.
    public var clockSkew: Duration {
        get { state.withLockedValue { $0.clockSkew } }
        set { state.withLockedValue { $0.clockSkew = newValue } }
    }

    // MARK: Received requests

    /// The recorded requests that match `predicate`, oldest first. The predicate runs outside the mock's lock.
    public func requests(matching predicate: (RecordedRequest) -> Bool = { _ in true }) -> [RecordedRequest] {
        state.withLockedValue { $0.requests.requests }.filter(predicate)
    }

    /// The recorded requests to one endpoint, oldest first.
    public func requests(to endpoint: MockEndpoint) -> [RecordedRequest] {
        requests { $0.endpoint == endpoint }
    }

    /// Number of requests to an endpoint since the start or ``forgetRequests()``.
    public func requestCount(of endpoint: MockEndpoint) -> Int {
        state.withLockedValue { $0.requests.counts[endpoint] ?? 0 }
    }

    /// Waits until an endpoint has received `count` requests since the start or ``forgetRequests()``.
    ///
    /// The requests' effects are then visible; their responses can still be in transit.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func waitForRequests(_ count: Int, to endpoint: MockEndpoint) async throws {
        let state = self.state
        let key = state.withLockedValue { $0.requests.makeKey() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLockedValue { value in
                    value.requests.wait(.init(count: count, endpoint: endpoint, continuation: continuation), key: key)
                    if Task.isCancelled { value.requests.cancel(key) }
                }
            }
        } onCancel: {
            state.withLockedValue { $0.requests.cancel(key) }
        }
    }

    /// Clears the recorded requests and their counts.
    public func forgetRequests() { state.withLockedValue { $0.requests.forget() } }

    /// The notifications accepted by the webhook receiver at `/hook`, in the order of their first delivery.
    public var receivedNotifications: [ReceivedNotification] { state.withLockedValue { $0.hooks.notifications } }

    /// Number of invalid deliveries that the webhook receiver rejected, without scripted faults.
    public var refusedNotifications: Int { state.withLockedValue { $0.hooks.refused } }
}
