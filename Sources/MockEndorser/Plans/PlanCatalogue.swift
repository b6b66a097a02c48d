/// The plans of the mock in order, each in its current version.
struct PlanCatalogue: Sendable {
    private(set) var plans: [MockPlan] = []
    private var indexOfPlan: [String: Int] = [:]

    /// Replaces all plans.
    mutating func replace(by plans: [MockPlan]) {
        self = PlanCatalogue()
        for plan in plans { add(plan) }
    }

    /// Adds a plan, or replaces the one with its identifier.
    mutating func add(_ plan: MockPlan) {
        if let index = indexOfPlan[plan.id] {
            plans[index] = plan
        } else {
            indexOfPlan[plan.id] = plans.count
            plans.append(plan)
        }
    }

    /// The plan with an identifier; `nil` if the catalogue has none.
    subscript(id: String) -> MockPlan? { indexOfPlan[id].map { plans[$0] } }
}
