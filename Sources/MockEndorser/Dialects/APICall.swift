/// A request to the API, as a dialect answers it.
struct APICall {
    let request: IncomingRequest
    let endpoint: MockEndpoint
    /// The contract violation of the answer; `nil` for none.
    var violation: MockSchemaViolation?
}
