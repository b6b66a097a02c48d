import Foundation
import FoundationNetworking
import ProgramTestKit

/// Plain requests to servers on this machine.
enum HTTP {
    struct Answer: Sendable {
        let status: Int
        let body: String
        let type: String
    }

    static func get(_ url: String, headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", url, headers: headers)
    }

    static func post(_ body: String, to url: String) async throws -> Answer {
        try await send("POST", url, headers: [:], body: Data(body.utf8))
    }

    private static func send(
        _ method: String,
        _ url: String,
        headers: [String: String],
        body: Data? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: URL(string: url)!)
        (request.httpMethod, request.httpBody) = (method, body)
        // The usual limit is a minute.
        request.timeoutInterval = TimeInterval(longestWait.components.seconds)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = response as! HTTPURLResponse
        return Answer(
            status: http.statusCode,
            body: String(decoding: data, as: UTF8.self),
            type: http.value(forHTTPHeaderField: "Content-Type") ?? ""
        )
    }
}
