/// A port of the agent that a web configuration can protect.
package enum ServedPort: String, Sendable, CaseIterable {
    /// `http.listen`.
    case http
    /// `control.listen`.
    case control
}
