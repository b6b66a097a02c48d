import FoundationEssentials
import HTTPTypes
import NIOPosix
import Starwatch
import StarwatchCore
import StarwatchTransport
import Synchronization

/// The web configuration of a port that is in force. It is reread when one of its files changes.
///
/// A file that cannot be used leaves the former configuration in force. So does one that turns TLS on or off, because that
/// needs a reload of the agent.
final class PortSecurity: Sendable {
    /// A configuration with its files.
    struct Active: Sendable {
        var configuration: WebConfiguration
        /// `nil` for clear text.
        var tls: TLSMaterial?
        var headers: HTTPFields
    }

    private struct State: Sendable {
        var active: Active
        /// The files that were read last, with their attributes then.
        var files: [String]
        var stamps: [FileStamp?]
        /// The attributes of files that were refused once. Files are replaced one by one, so a second look decides.
        var suspects: [FileStamp?]?
        var lastLook: Duration
        var isLooking = false
    }

    /// The time between two looks at the files.
    static let lookInterval = Duration.seconds(1)

    private let path: String
    private let hasToken: Bool?
    private let source: WebConfiguration.Source
    private let now: @Sendable () -> Duration
    private let report: @Sendable (WebConfigurationNews) -> Void
    private let state: Mutex<State>

    /// Reads the configuration and its files.
    ///
    /// - Parameters:
    ///   - hasToken: Whether the port has a token; `nil` for a port that needs none.
    ///   - now: A monotonic time.
    ///   - report: Gets the result of every reading but a failed first one.
    /// - Throws: ``AgentError`` with a sentence about the first file that is not usable.
    init(
        path: String,
        hasToken: Bool?,
        source: @escaping WebConfiguration.Source,
        now: @escaping @Sendable () -> Duration,
        report: @escaping @Sendable (WebConfigurationNews) -> Void
    ) throws(AgentError) {
        (self.path, self.hasToken, self.source, self.now, self.report) = (path, hasToken, source, now, report)
        var files = [path]
        var stamps: [FileStamp?] = []
        let active = try Self.read(path, source, hasToken: hasToken, files: &files, stamps: &stamps)
        state = Mutex(State(active: active, files: files, stamps: stamps, lastLook: now()))
        report(.loaded(certificateExpiry: active.tls?.expiry))
    }

    var active: Active { state.withLock(\.active) }

    /// Whether the port speaks TLS. It stays so until a reload.
    var isEncrypted: Bool { active.tls != nil }

    // MARK: - Changes

    /// Begins a look at the files if the last one is a second ago. It takes place on another thread.
    func look() {
        let time = now()
        let isDue = state.withLock { state in
            guard !state.isLooking, time - state.lastLook >= Self.lookInterval else { return false }
            (state.isLooking, state.lastLook) = (true, time)
            return true
        }
        guard isDue else { return }
        NIOThreadPool.singleton.submit { [self] workState in
            if workState == .active { reread() }
            state.withLock { $0.isLooking = false }
        }
    }

    /// Rereads the configuration if a file has changed.
    func reread() {
        let last = state.withLock { $0 }
        let stamps = last.files.map(FileStamp.init(path:))
        guard stamps != last.stamps else { return state.withLock { $0.suspects = nil } }
        var (files, readStamps) = (last.files, stamps)
        do throws(AgentError) {
            let active = try Self.read(path, source, hasToken: hasToken, files: &files, stamps: &readStamps)
            guard (active.tls == nil) == (last.active.tls == nil) else {
                throw AgentError(.configuration, "Turning TLS on or off needs a reload; send SIGHUP to the agent.")
            }
            state.withLock { [files, readStamps] state in
                (state.active, state.files, state.stamps, state.suspects) = (active, files, readStamps, nil)
            }
            report(.reloaded(certificateExpiry: active.tls?.expiry))
        } catch {
            let isRefused = state.withLock { [files, readStamps] state in
                guard state.suspects == stamps else {
                    state.suspects = stamps
                    return false
                }
                (state.files, state.stamps, state.suspects) = (files, readStamps, nil)
                return true
            }
            if isRefused { report(.refused(error.message)) }
        }
    }

    /// - Parameters:
    ///   - files: Gets the files of the configuration, once they are known.
    ///   - stamps: Gets their attributes from before they were read.
    private static func read(
        _ path: String,
        _ source: WebConfiguration.Source,
        hasToken: Bool?,
        files: inout [String],
        stamps: inout [FileStamp?]
    ) throws(AgentError) -> Active {
        let stamp = FileStamp(path: path)
        let configuration = try source(path)
        files = [path] + configuration.files
        stamps = [stamp] + configuration.files.map(FileStamp.init(path:))
        return try Active(configuration, of: path, hasToken: hasToken)
    }
}

extension PortSecurity.Active {
    /// Reads the files that a configuration names.
    ///
    /// - Throws: ``AgentError`` with a sentence about the first one that is not usable.
    init(_ configuration: WebConfiguration, of path: String, hasToken: Bool?) throws(AgentError) {
        if let problem = configuration.problem(hasToken: hasToken) {
            throw AgentError(.configuration, "\(path) \(problem)")
        }
        self.configuration = configuration
        tls = try configuration.material()
        headers = [:]
        for (name, value) in configuration.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
    }
}

extension WebConfiguration {
    /// Reads the certificate and the key; `nil` without TLS.
    fileprivate func material() throws(AgentError) -> TLSMaterial? {
        guard let tls else { return nil }
        if let problem = tls.problem {
            throw AgentError(.configuration, "tls_server_config.\(problem.key) \(problem.message)")
        }
        let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        return try TLSMaterial(tls, credentialsDirectory: directory.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// Returns why the files of the configuration are not usable; `nil` if they are.
    package var filesProblem: String? {
        do throws(AgentError) {
            _ = try material()
            return nil
        } catch {
            return error.message
        }
    }
}
