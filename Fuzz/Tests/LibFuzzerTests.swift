import Foundation
import Glibc
import Testing

/// Hands a target to libFuzzer, which `Fuzz/run` links in. Never returns: libFuzzer ends the process.
@Suite struct LibFuzzerTests {
    private static let arguments = ProcessInfo.processInfo.environment["FUZZ_ARGUMENTS"]

    @Test(.enabled(if: arguments != nil, "run by Fuzz/run"))
    func theTargetThatIsNamedRuns() throws {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        let target = try #require(FuzzTarget.all.first { $0.name == name }, "no target is called \(name)")
        let symbol = try #require(dlsym(nil, "LLVMFuzzerRunDriver"), "libFuzzer is not linked in; use Fuzz/run")
        typealias Strings = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
        typealias Driver =
            @convention(c) (UnsafeMutablePointer<CInt>, UnsafeMutablePointer<Strings?>, Callback) -> CInt
        let drive = unsafeBitCast(symbol, to: Driver.self)

        underTest = target
        let words = ["fuzz"] + (Self.arguments ?? "").split(separator: " ").map(String.init)
        var strings = words.map { strdup($0) } + [nil]
        strings.withUnsafeMutableBufferPointer { strings in
            var count = CInt(words.count)
            var first = strings.baseAddress
            _ = drive(&count, &first) { start, count in
                if let problem = underTest?.check(Array(UnsafeBufferPointer(start: start, count: count))) {
                    fatalError(problem)
                }
                return 0
            }
        }
    }
}

/// Set once, before libFuzzer begins; its callback has no context.
nonisolated(unsafe) private var underTest: FuzzTarget?
