import Foundation
import StarwatchCore
import StarwatchTransport

/// A check whether the destination of a sink is there. It delivers nothing.
package enum SinkReach: Sendable, Hashable {
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
    package static func of(_ sink: SinkOptions, within limit: Duration = timeout) async -> SinkReach {
        if sink.isOfAccounts { return .ofAccounts }
        return switch sink.kind {
        case .stdout, .log, .feed: .ready
        case .file(let path): folderProblem(of: path).map(SinkReach.failed) ?? .ready
        case .command(let argv, _): programProblem(argv.first ?? "").map(SinkReach.failed) ?? .ready
        case .webhook(let url, _, _):
            if let path = sink.urlFile {
                await answer(ofFile: path, sink, within: limit)
            } else {
                await answer(of: url, sink, within: limit)
            }
        case .chat(let chat): await answer(of: chat, sink, within: limit)
        case .email(let mail): await greeting(mail, sink)
        case .ntfy(let url, let topic, _):
            await answer(of: (url.hasSuffix("/") ? url : url + "/") + topic, sink, within: limit)
        }
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

    private static func folderProblem(of path: String) -> SinkFailure? {
        if hasFolder(path) { return nil }
        return SinkFailure("There is no folder \(folder(of: path)); create it for the agent's user.", .output)
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

    private static func answer(
        of chat: ChatOptions,
        _ sink: SinkOptions,
        within limit: Duration
    ) async -> SinkReach {
        switch chat.address {
        case .url(let url): return await answer(of: url, sink, within: limit)
        case .standard: return await answer(of: chat.service.standardURL ?? "", sink, within: limit)
        case .file(let path): return await answer(ofFile: path, sink, for: chat.service, within: limit)
        }
    }

    /// - Parameter service: The service of a chat; `nil` for a webhook without one.
    private static func answer(
        ofFile path: String,
        _ sink: SinkOptions,
        for service: ChatService? = nil,
        within limit: Duration
    ) async -> SinkReach {
        let file = SecretFile(path: path, setting: "delivery.sinks.\(sink.name).url_file", holding: .line)
        let url: String
        do throws(SinkFailure) {
            if let service { url = try ChatAddress.read(file, for: service) } else { url = try SinkURL.read(file) }
        } catch { return .failed(error) }
        return await answer(of: url, sink, within: limit)
    }

    /// Connects to a mail server and logs in, if this user can read the password.
    private static func greeting(_ mail: EmailOptions, _ sink: SinkOptions) async -> SinkReach {
        let secret = mail.passwordFile.map {
            SecretFile(path: $0, setting: "delivery.sinks.\(sink.name).password_file", holding: .line)
        }
        let password = secret.flatMap { file in (try? file.bytes()).map { _ in SinkSecret.file(file) } }
        do {
            let http = try client(of: sink)
            defer { http.shutdown() }
            let result = await (try MailSink(mail, of: sink, password: password, http: http)).greet()
            return result.failure.map(SinkReach.failed) ?? .ready
        } catch let error as AgentError {
            return .failed(SinkFailure(error.message, .invalidRequest))
        } catch { return .failed(error as? SinkFailure ?? SinkFailure("\(error)", .invalidRequest)) }
    }

    private static func client(of sink: SinkOptions) throws(SinkFailure) -> HTTPClient {
        let trust: HTTPClientOptions?
        do throws(AgentError) { trust = try sink.trust(.ofProcess) } catch {
            throw SinkFailure(error.message, .tokenFile)
        }
        do throws(HTTPError) {
            return try HTTPClient(options: trust ?? HTTPClientOptions(), time: SystemClock())
        } catch { throw SinkFailure(error.description, error.cause) }
    }

    private static func answer(of url: String, _ sink: SinkOptions, within limit: Duration) async -> SinkReach {
        let http: HTTPClient
        do throws(SinkFailure) { http = try client(of: sink) } catch { return .failed(error) }
        defer { http.shutdown() }
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
