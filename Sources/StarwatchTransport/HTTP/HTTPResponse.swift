/// A complete answer, of whatever status.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let headers: HTTPHeaders
    /// The decompressed body.
    package let body: [UInt8]

    package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// A request's end and what it cost, whether it succeeded or not.
package struct HTTPExchange: Sendable {
    package let result: Result<HTTPResponse, HTTPError>
    package let measurements: HTTPMeasurements
}
