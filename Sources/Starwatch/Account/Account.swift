import StarwatchCore
package import StarwatchPolling

/// The account of a runtime: its identity and interests, and its connection to the server.
package struct Account: Sendable {
    package let identity: IdentityContext
    package let api: EndorserAPI

    package var gate: Gate { api.gate }

    /// Scheme, host and port of the server.
    package var server: String { api.gate.server }
}
