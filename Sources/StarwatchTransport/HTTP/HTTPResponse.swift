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
    /// The answer's status, also where its body was too large or did not come whole; `nil` when no head came.
    package var status: Int?
    /// The system's error of a connection that could not be made; `nil` for any other end or if it is not known.
    package var connectErrno: Int32?

    package init(result: Result<HTTPResponse, HTTPError>, measurements: HTTPMeasurements, status: Int? = nil) {
        self.result = result
        self.measurements = measurements
        self.status = status
    }
}
