import Glibc

extension DescriptorWriter {
    /// Whether a descriptor is the stream by which systemd's journal reads a service's lines, each of which can begin with
    /// its priority (sd-daemon(3)). `$JOURNAL_STREAM` names it as `DEVICE:INODE`. A process inherits the variable even where
    /// its output goes elsewhere.
    package static func isJournal(_ descriptor: Int32, environment: [String: String]) -> Bool {
        guard let name = environment["JOURNAL_STREAM"] else { return false }
        var status = stat()
        return fstat(descriptor, &status) == 0 && name == "\(status.st_dev):\(status.st_ino)"
    }
}

extension LogSeverity {
    /// The beginning of a line in the journal's stream, with the number of syslog(3).
    package var journalPrefix: String {
        switch self {
        case .debug: "<7>"
        case .info: "<6>"
        case .warn: "<4>"
        case .error: "<3>"
        }
    }
}
