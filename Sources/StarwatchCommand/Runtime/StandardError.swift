import Foundation
import Starwatch
import Synchronization

/// Notes of a command beside its result.
enum StandardError {
    private static let said = Mutex<Set<String>>([])

    /// Writes a line, unless this command has written it already. Control characters are shown as `?`.
    static func sayOnce(_ line: String) {
        guard said.withLock({ $0.insert(line).inserted }) else { return }
        FileHandle.standardError.write(Data((TerminalText.printable(line) + "\n").utf8))
    }
}
