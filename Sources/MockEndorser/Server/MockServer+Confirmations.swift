import NIOConcurrencyHelpers

extension MockServer {
    /// Publishes a confirmation, of the endorser dialect alone.
    ///
    /// - Parameters:
    ///   - claims: The confirmed claims, by the identifier of a version or by handle. Several are a list, as former apps wrote.
    ///   - issuerDID: The person who confirms; `nil` for a random one.
    /// - Returns: The confirmation's identifier.
    @discardableResult
    public func publishConfirmation(of claims: [String], by issuerDID: String? = nil) -> String {
        let links = claims.map { claim -> JSONValue in
            ["@type": "GiveAction", (claim.contains("/") ? "identifier" : "lastClaimId"): .string(claim)]
        }
        return state.withLockedValue {
            $0.publishConfirmation(of: links.count == 1 ? links[0] : .array(links), by: issuerDID)
        }
    }
}
