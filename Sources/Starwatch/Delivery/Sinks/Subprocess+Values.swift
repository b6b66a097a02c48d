import Subprocess

// Subprocess takes a `FilePath` and a `FileDescriptor` of a module that is its dependency, not ours. Both can be made
// without being named.

extension Executable {
    /// The program of an argument vector: a path when it holds a slash, else a name that is looked for in `PATH`.
    static func program(_ text: String) -> Executable {
        text.contains("/") ? .path(literal(text)) : .name(text)
    }

    private static func literal<Path: ExpressibleByStringLiteral>(_ text: String) -> Path
    where Path.StringLiteralType == String {
        Path(stringLiteral: text)
    }
}

extension PlatformOptions {
    /// A process group of its own, so that what the program started ends with it.
    static var ownGroup: PlatformOptions {
        var platform = PlatformOptions()
        platform.processGroupID = 0
        platform.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
        return platform
    }
}

extension InputProtocol where Self == FileDescriptorInput {
    /// An open file as standard input. It is not closed.
    static func open(_ descriptor: CInt) -> Self {
        .fileDescriptor(raw(descriptor), closeAfterSpawningProcess: false)
    }

    private static func raw<Descriptor: RawRepresentable>(_ descriptor: CInt) -> Descriptor
    where Descriptor.RawValue == CInt {
        // Every number is a descriptor to it.
        Descriptor(rawValue: descriptor)!
    }
}
