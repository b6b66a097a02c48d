import Foundation
import StarwatchTransport
import Synchronization

/// A folder that only this user can use, deleted by ``remove()`` or when SIGINT, SIGTERM or SIGHUP ends the program.
package struct TemporaryFolder: Sendable {
    package let path: String

    /// - Throws: ``AgentError`` if it cannot be created.
    package init() throws(AgentError) {
        let url = FileManager.default.temporaryDirectory.appending(path: "starwatch-" + RandomID.uuid())
        path = url.path
        Self.watch.install()
        _ = Self.folders.withLock { $0.insert(url.path) }
        do {
            try FileManager.default.createDirectory(
                at: url,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw AgentError(.failed, "No folder can be created in \(url.deletingLastPathComponent().path).")
        }
    }

    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
        _ = Self.folders.withLock { $0.remove(path) }
    }

    private static let folders = Mutex<Set<String>>([])
    private static let watch = SignalWatch()

    /// Deletes the folders when a signal ends the program. They can contain a copy of a key.
    private final class SignalWatch: Sendable {
        private let sources = Mutex<[any DispatchSourceSignal]>([])

        func install() {
            sources.withLock { sources in
                guard sources.isEmpty else { return }
                sources = [SIGINT, SIGTERM, SIGHUP].map { number in
                    signal(number, SIG_IGN)
                    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                    source.setEventHandler {
                        for path in TemporaryFolder.folders.withLock({ $0 }) {
                            try? FileManager.default.removeItem(atPath: path)
                        }
                        _exit(128 + number)
                    }
                    source.activate()
                    return source
                }
            }
        }
    }
}
