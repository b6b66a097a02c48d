import FoundationEssentials
import Subprocess

// Subprocess uses `FilePath` and `FileDescriptor` from a module that only Subprocess depends on. Both can be created
// without naming their types.

extension Executable {
    /// Returns the program of an argument vector: a path if it contains a slash, otherwise a name to look up in `PATH`.
    static func program(_ text: String) -> Executable {
        text.contains("/") ? .path(literal(text)) : .name(text)
    }

    private static func literal<Path: ExpressibleByStringLiteral>(_ text: String) -> Path
    where Path.StringLiteralType == String {
        Path(stringLiteral: text)
    }
}

extension PlatformOptions {
    /// Options that give the program its own process group, so that its children end with it.
    static var ownGroup: PlatformOptions {
        var platform = PlatformOptions()
        platform.processGroupID = 0
        platform.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
        return platform
    }
}

extension InputProtocol where Self == FileDescriptorInput {
    /// Uses an open file as standard input. The file is not closed.
    static func open(_ descriptor: CInt) -> Self {
        .fileDescriptor(raw(descriptor), closeAfterSpawningProcess: false)
    }

    private static func raw<Descriptor: RawRepresentable>(_ descriptor: CInt) -> Descriptor
    where Descriptor.RawValue == CInt {
        // `Descriptor` accepts every number.
        Descriptor(rawValue: descriptor)!
    }
}

extension CommandSink {
    private static let names: Set<String> = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LOGNAME"]

    /// Returns the variables that a program inherits. Others can be secrets of the agent's surroundings.
    static func inherited(from environment: [String: String]) -> [String: String] {
        environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }
}

extension Subprocess.Environment {
    /// The environment of the programs that the agent starts.
    static var limited: Self {
        let variables = CommandSink.inherited(from: ProcessInfo.processInfo.environment)
        return .custom(Dictionary(uniqueKeysWithValues: variables.map { (Key(stringLiteral: $0.key), $0.value) }))
    }
}
