package import StarwatchCore
import Subprocess

/// Starts a program for each notification and passes the notification as JSON on its standard input.
///
/// The arguments are passed unchanged, never through a shell. Exit status 0 means delivered, 75 (`EX_TEMPFAIL`) means
/// unavailable, and any other status means rejected. The program's output is discarded, whatever its length: it can
/// repeat the notification, and logs contain no personal data.
package struct CommandSink: NotificationSink {
    package let name: String
    package let takesBack = true
    let argv: [String]
    let timeout: Duration
    let time: any TimeSource

    private static let notStarted = SinkFailure("The command cannot be started.", .notStarted)

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await withTaskGroup(of: SinkResult?.self) { group in
            group.addTask { await run(notification.payload) }
            group.addTask { [time, timeout] in (try? await time.sleep(for: timeout)).map { .timeout } }
            defer { group.cancelAll() }
            return await group.next()! ?? .unavailable(.stopping, retryAfter: nil)
        }
    }

    private func run(_ payload: [UInt8]) async -> SinkResult? {
        guard let program = argv.first else { return .rejected(SinkFailure("The command is empty.", .notStarted)) }
        guard let input = MemoryFile(payload) else {
            return .unavailable(Self.notStarted, retryAfter: nil)
        }
        do {
            let result = try await Subprocess.run(
                .program(program),
                arguments: Arguments(Array(argv.dropFirst())),
                environment: .limited,
                platformOptions: .ownGroup,
                input: .open(input.descriptor),
                output: .discarded,
                error: .discarded
            )
            return switch result.terminationStatus {
            case .exited(0): .ok
            case .exited(75): .unavailable(SinkFailure("The command asks to try later.", .exitStatus), retryAfter: nil)
            case .exited(let status): .rejected(SinkFailure("The command exited with status \(status).", .exitStatus))
            default: .unavailable(SinkFailure("The command was ended by a signal.", .signal), retryAfter: nil)
            }
        } catch is CancellationError {
            return nil
        } catch {
            return .unavailable(Self.notStarted, retryAfter: nil)
        }
    }
}
