/// A complete response of any status.
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

/// The result and measurements of a request.
package struct HTTPExchange: Sendable {
    package let result: Result<HTTPResponse, HTTPError>
    package let measurements: HTTPMeasurements
    /// The response's status, even if its body was too large or incomplete; `nil` when no head arrived.
    package var status: Int?
    /// The system's error of a connection that could not be made; `nil` for any other end or if it is not known.
    package var connectErrno: Int32?

    package init(result: Result<HTTPResponse, HTTPError>, measurements: HTTPMeasurements, status: Int? = nil) {
        self.result = result
        self.measurements = measurements
        self.status = status
    }
}
