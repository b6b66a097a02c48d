import Foundation
import StarwatchCore
import StarwatchTransport

/// A check whether a server or the destination of a sink is there. It delivers nothing.
package enum Reach: Sendable, Hashable {
    /// The folder or program is there, or the sink needs none.
    case ready
    /// The server answered a GET request with this status.
    case answered(status: Int)
    /// Each account brings the address, so there is none to try.
    case ofAccounts
    case failed(SinkFailure)

    /// The longest time for an answer, for which a person waits.
    package static let timeout = Duration.seconds(10)

    /// Tries to reach the destination.
    ///
    /// A webhook or an ntfy server is there if it answers a GET request, with any status: only the notification itself
    /// can show whether it is accepted.
    ///
    /// - Parameter limit: The longest time for its answer.
    package static func of(_ sink: SinkOptions, within limit: Duration = timeout) async -> Reach {
        if sink.isOfAccounts { return .ofAccounts }
        return await sink.configured?.reach(sink, within: limit) ?? .ready
    }

    package var failure: SinkFailure? { if case .failed(let failure) = self { failure } else { nil } }

    /// Whether the folder of a file exists.
    package static func hasFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: folder(of: path), isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func folder(of path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().path
    }

    /// The folder or the program of a sink that is not there; `nil` if both are.
    static func problem(of sink: SinkOptions) -> SinkFailure? {
        if let path = sink.values(of: .output).first?.value.text, !hasFolder(path) {
            return SinkFailure("There is no folder \(folder(of: path)); create it for the agent's user.", .output)
        }
        guard let program = sink.values(of: .program).first?.value.list?.first else { return nil }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let folders = program.contains("/") ? [""] : path.split(separator: ":").map { $0 + "/" }
        guard !folders.contains(where: { FileManager.default.isExecutableFile(atPath: $0 + program) }) else {
            return nil
        }
        return SinkFailure("There is no program \(program); install it or correct argv.", .notStarted)
    }

    /// The client of a sink's requests, for a trial.
    static func client(of sink: SinkOptions) throws(SinkFailure) -> HTTPClient {
        let trust: HTTPClientOptions?
        do throws(AgentError) { trust = try sink.trust(.ofProcess) } catch {
            throw SinkFailure(error.message, .tokenFile)
        }
        do throws(APIFailure) {
            return try HTTPClient(options: trust ?? HTTPClientOptions(), time: SystemClock())
        } catch { throw SinkFailure(error.reason, error.cause) }
    }

    /// Sends a GET request.
    static func answer(of url: String, by http: any HTTPTransport, within limit: Duration) async -> Reach {
        let request = HTTPRequest(
            url: url,
            headers: [("User-Agent", AgentVersion.userAgent)],
            timeout: limit,
            maxResponseBytes: SinkResult.largestResponseBytes
        )
        let exchange = await http.exchange(request)
        // A body that is too long or incomplete is an answer too.
        if let status = exchange.status { return .answered(status: status) }
        switch exchange.result {
        case .success(let response): return .answered(status: response.status)
        case .failure(let error):
            return .failed(SinkFailure("The sink cannot be reached (\(error.cause.phrase)).", error.cause))
        }
    }
}
