/// A change listed in a digest.
package struct FoundChange: Sendable, Hashable {
    /// The plan's handle.
    package let plan: String
    /// The server's name for it; `nil` if it has none.
    package let name: String?

    package init(plan: String, name: String?) {
        self.plan = plan
        self.name = name
    }
}
