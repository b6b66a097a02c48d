package import StarwatchCore

/// The state of an address that an account brought.
package enum SinkAddressState: String, Sendable, Hashable {
    case set
    /// It returned 410 Gone and gets nothing more, until it is added again.
    case gone
}

/// A stored address.
package struct StoredSinkAddress: Sendable, Hashable {
    package let sink: String
    package let state: SinkAddressState
    /// `nil` if it does not open.
    package let address: SinkAddress?
}
