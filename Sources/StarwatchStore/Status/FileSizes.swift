/// The sizes of the database's files in bytes.
package struct FileSizes: Sendable, Hashable {
    package let database: Int
    package let wal: Int
    /// The bytes that an unprivileged process can still write on the device.
    package let freeDisk: Int
}
