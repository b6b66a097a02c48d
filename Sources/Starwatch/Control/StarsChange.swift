/// A change of the active identity's starred plans.
package struct StarsChange: Sendable, Codable, Hashable {
    package enum Operation: String, Sendable, Codable, CaseIterable {
        case set, add, remove
        /// Adds the stars that were archived last. The plan ids are ignored.
        case restore
        /// Switches the polls of starred plans off. The plan ids are ignored, and the stars stay.
        case optOut = "opt_out"
        /// Switches the polls on again.
        case optIn = "opt_in"
    }

    /// The maximum number of an identity's starred plans, and of the plans in one change.
    package static let planLimit = 10_000

    package var operation: Operation
    package var planIDs: [String]

    package init(operation: Operation, planIDs: [String]) {
        self.operation = operation
        self.planIDs = planIDs
    }
}

package struct StarsListing: Sendable, Codable {
    package var planIDs: [String]
    /// The known names by plan; `nil` in the answer to a change.
    package var names: [String: String]?
}

/// Stars of the active identity that a change of identity archived. They are kept for 30 days.
package struct ArchivedStarsReport: Sendable, Codable, Hashable {
    package var archivedAt: String
    package var planIDs: [String]
}

package struct StarsArchive: Sendable, Codable {
    package var archived: [ArchivedStarsReport]
}
