import Glibc
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
            return await group.next()! ?? .unavailable(.stopping)
        }
    }

    private func run(_ payload: [UInt8]) async -> SinkResult? {
        guard let program = argv.first else { return .rejected(SinkFailure("The command is empty.", .notStarted)) }
        guard let input = MemoryFile(payload) else {
            return .unavailable(Self.notStarted)
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
            case .exited(75): .unavailable(SinkFailure("The command asks to try later.", .exitStatus))
            case .exited(let status): .rejected(SinkFailure("The command exited with status \(status).", .exitStatus))
            default: .unavailable(SinkFailure("The command was ended by a signal.", .signal))
            }
        } catch is CancellationError {
            return nil
        } catch {
            return .unavailable(Self.notStarted)
        }
    }
}

extension CommandSink: ConfiguredSink {
    package static let kind = "command"
    package static let settings = [SinkSetting("argv", .program, isNeeded: true), .timeout, .canary]
    package static let setups = [
        SetupSink(kind, .init(CommandSink.self), rank: 5, [.init("argv", form: "PROGRAM", "There is no program")])
    ]
    package static var examples: [(comment: String, sink: SinkOptions)] {
        let kind = SinkOptions.Kind(CommandSink.self, ["argv": .list(["/usr/local/bin/notify", "--quiet"])])
        let comment = "A program that reads the notification as JSON from standard input:"
        return [(comment, SinkOptions(name: "script", kind: kind))]
    }

    package static func make(_ sink: SinkOptions, by factory: SinkFactory) -> any NotificationSink {
        CommandSink(
            name: sink.name,
            argv: sink["argv"]?.list ?? [],
            timeout: sink["timeout"]?.time ?? .zero,
            time: factory.time
        )
    }
}

extension SinkOptions.Kind {
    /// A program that reads the notification as JSON on standard input. It is ended after `timeout`, and no shell is used.
    public static func command(argv: [String], timeout: Duration) -> Self {
        Self(CommandSink.self, ["argv": .list(argv), "timeout": .time(timeout)])
    }
}

/// An unnamed in-memory file, used as a program's standard input.
///
/// A pipe needs a writer. A program that does not read all its input would break the pipe, and a successful run would
/// look like an error.
struct MemoryFile: ~Copyable {
    private typealias Create = @convention(c) (UnsafePointer<CChar>, CUnsignedInt) -> CInt

    /// `memfd_create`, which Swift's Glibc leaves out.
    private static let create = dlsym(nil, "memfd_create").map { unsafeBitCast($0, to: Create.self) }
    /// `MFD_CLOEXEC`.
    private static let closesOnExec: CUnsignedInt = 1

    let descriptor: CInt

    /// Creates a file with `bytes`, positioned at its beginning; `nil` if the system has no memory or descriptor left.
    init?(_ bytes: [UInt8]) {
        guard let descriptor = Self.create?("starwatch", Self.closesOnExec), descriptor >= 0 else { return nil }
        guard bytes.writeAll(to: descriptor), lseek(descriptor, 0, SEEK_SET) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
