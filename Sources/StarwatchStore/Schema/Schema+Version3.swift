extension Schema {
    /// The changes of version 3.
    static let version3 = failureReasons
}
