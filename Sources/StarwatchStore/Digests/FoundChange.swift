/// A change as a digest lists it.
package struct FoundChange: Sendable, Hashable {
    /// The plan's handle.
    package let plan: String
    /// What the server calls it; `nil` when it has no name.
    package let name: String?

    package init(plan: String, name: String?) {
        self.plan = plan
        self.name = name
    }
}
