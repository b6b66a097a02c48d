import Foundation
import Glibc
import ProgramTestKit
import StarwatchCore

@testable import StarwatchTransport

/// A clock that is stopped at 2026-01-01.
let standingClock: @Sendable () -> ClockReading = {
    ClockReading(wall: Timestamp(seconds: 1_767_225_600), monotonic: .seconds(1000))
}

extension HTTPClientOptions {
    /// The same with time for handshakes, proxies and greetings, which another thread or program answers late on a busy machine.
    var patient: Self {
        var options = self
        options.connectTimeout = longestWait
        return options
    }
}

func makeClient(
    _ options: HTTPClientOptions = HTTPClientOptions().patient,
    clock: @escaping @Sendable () -> ClockReading = standingClock
) throws -> HTTPClient {
    try HTTPClient(options: options, clock: clock)
}

extension HTTPClient {
    /// Sends a request like `exchange`, without the measurements.
    func execute(_ request: HTTPRequest) async throws(APIFailure) -> HTTPResponse {
        try await exchange(request).result.get()
    }
}

func text(_ response: HTTPResponse) -> String {
    String(decoding: response.body, as: UTF8.self)
}

/// The error of a result; `nil` for a success.
func failure<Value, Failure: Error>(of result: Result<Value, Failure>) -> Failure? {
    if case .failure(let error) = result { error } else { nil }
}

/// A temporary directory, removed on release.
final class TemporaryDirectory {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "/starwatch-transport-" + UUID().uuidString
        mkdir(path, 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    func write(_ name: String, _ content: String, mode: mode_t = 0o600) -> String {
        let file = path + "/" + name
        _ = FileManager.default.createFile(atPath: file, contents: Data(content.utf8))
        chmod(file, mode)
        return file
    }
}

/// The key, DID and token published in did-jwt's tests.
enum Vector {
    static let keyHex = "278a5de700e29faae8e40e366ec5012b5ec63d36ec77e8a2417154cc1d25383f"
    static let publicKeyHex =
        "04fdd57adec3d438ea237fe46b33ee1e016eda6b585c3e27ea66686c2ea535847946393f8145252eea68afe67e287b3ed9b31685ba6c3b00060a73b9b1242d68f7"
    static let did = DID("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74")!
    static let issuedAt = Timestamp(seconds: 1_767_225_600)
    static let token =
        "eyJhbGciOiJFUzI1NksiLCJ0eXAiOiJKV1QifQ.eyJleHAiOjE3NjcyMjU2NjAsImlhdCI6MTc2NzIyNTYwMCwiaXNzIjoiZGlkOmV0aHI6MHhGM2JlQUMzMEM0OThEOUUyNjg2NUYzNGZDQWE1N2RCQjkzNWIwRDc0In0.Zk2VHRlQPtc8bGomc47ASKs2_Dz13vdApprDKJwz6P8F6xLiq-k0LMfSyRHgxdF30wSS0Xq5Tl9cvFWVtdh49A"
}
