import CEmbedded

/// The files that are part of the program.
enum EmbeddedFile {
    /// The description of the control API, as OpenAPI in JSON.
    static let openAPI = bytes(of: starwatch_openapi())
    /// The runbooks of all alerts by name, each followed by a NUL.
    static var runbooks: [UInt8] { bytes(of: starwatch_runbooks()) }

    private static func bytes(of file: starwatch_file) -> [UInt8] {
        Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
