import Foundation
import StarwatchCore
import StarwatchTransport

/// A check whether the destination of a sink is there. It delivers nothing.
package enum SinkReach {
    /// The longest time for an answer.
    private static let timeout = Duration.seconds(10)

    /// Returns why the destination cannot be reached, or `nil`.
    ///
    /// A webhook or an ntfy server is there if it answers a GET request, with any status below 500.
    package static func failure(of sink: SinkOptions) async -> SinkFailure? {
        switch sink.kind {
        case .stdout, .log, .feed: nil
        case .file(let path): folderProblem(of: path)
        case .command(let argv, _): programProblem(argv.first ?? "")
        case .webhook(let url, _, _): await answerProblem(url, sink)
        case .ntfy(let url, let topic, _):
            await answerProblem((url.hasSuffix("/") ? url : url + "/") + topic, sink)
        }
    }

    private static func folderProblem(of path: String) -> SinkFailure? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            return SinkFailure("There is no folder \(folder); create it for the agent's user.", .output)
        }
        return nil
    }

    private static func programProblem(_ program: String) -> SinkFailure? {
        let folders = program.contains("/") ? [""] : searchPath.map { $0 + "/" }
        guard !folders.contains(where: { FileManager.default.isExecutableFile(atPath: $0 + program) }) else {
            return nil
        }
        return SinkFailure("There is no program \(program); install it or correct argv.", .notStarted)
    }

    private static var searchPath: [Substring] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    }

    private static func answerProblem(_ url: String, _ sink: SinkOptions) async -> SinkFailure? {
        let time = SystemClock()
        let http: HTTPClient
        do throws(HTTPError) {
            http = try HTTPClient(options: sink.trust ?? HTTPClientOptions(), time: time)
        } catch { return SinkFailure(error.description, error.cause) }
        defer { http.shutdown() }
        let request = HTTPRequest(
            url: url,
            headers: [("User-Agent", AgentVersion.userAgent)],
            timeout: timeout,
            maxResponseBytes: HTTPSinkAnswer.largestBytes
        )
        let result = HTTPSinkAnswer.result(of: await http.exchange(request), at: time.now)
        switch result {
        case .unavailable, .timeout: return result.failure
        case .ok, .rejected, .gone: return nil
        }
    }
}
