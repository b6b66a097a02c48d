/// A page of an identity's own plans.
public struct PlansPage: Sendable, Hashable {
    /// A plan, as far as the agent needs it.
    public struct Plan: Sendable, Hashable {
        public let handle: String
        /// The name to show; `nil` if the plan has none.
        public let name: String?

        public init(handle: String, name: String? = nil) { (self.handle, self.name) = (handle, name) }
    }

    /// The plans, the newest first, without those whose handle is unusable.
    public let plans: [Plan]
    /// The `beforeId` of the next page; `nil` if this is the last one.
    public let next: String?

    public init(plans: [Plan], next: String?) { (self.plans, self.next) = (plans, next) }

    public static let empty = PlansPage(plans: [], next: nil)

    /// Reads an answer; `nil` if the bytes are not JSON in UTF-8.
    public static func read(_ bytes: [UInt8]) -> Result<PlansPage, PageRejection>? {
        JSONValue.read(bytes, keys: PageKey.table) { page -> Result<PlansPage, PageRejection> in
            guard let data = page[.data], let count = data.count, count <= PageWire.longest else {
                return .failure(.notAPage)
            }
            let plans = data.elements.compactMap { item in
                item[.handleId]?.line.flatMap(ItemWire.storable).map { Plan(handle: $0, name: item[.name]?.line) }
            }
            guard page[.hitLimit]?.bool == true else { return .success(PlansPage(plans: plans, next: nil)) }
            // The server numbers the rows of this report, in contrast to others.
            let last = data.elements.reduce(nil as JSONValue?) { $1 }
            guard let row = last?[.rowId]?.scalar ?? last?[.jwtId]?.text else {
                return .failure(PageRejection(violation: .hitLimit, issues: []))
            }
            return .success(PlansPage(plans: plans, next: row))
        }
    }
}

/// The plans that an account issued or is the agent of, the newest of each, up to a limit.
///
/// Anybody can name the account as the agent of any number of plans, so those that it issued come first.
package struct OwnPlans: Sendable {
    /// The roles of the account in its plans, as parameters of a request for them.
    package static let roles = ["issuerDid", "agentDid"]

    /// The largest number of pages of each role, for a server that sends the same plans again and again.
    package static let mostPages = 101

    package private(set) var handles: [String] = []
    /// The names by handle. Plans without a name are missing.
    package private(set) var names: [String: String] = [:]
    /// Whether the account has more plans than these.
    package private(set) var areCut = false
    private let limit: Int
    private var known: Set<String> = []

    package init(limit: Int) { self.limit = limit }

    /// Says that an account has more plans than were asked for.
    package static func sentence(asked: Int) -> String {
        "The poll asks for \(asked) projects of the account, and limits.max_own_plans leaves out the others."
    }

    /// Adds a page of plans, without those too long for a request.
    ///
    /// - Parameter number: The number of the page among those of its role, from 1.
    /// - Returns: The `beforeId` of the next page to ask for; `nil` if none is needed.
    package mutating func add(_ page: PlansPage, number: Int) -> String? {
        for plan in page.plans where !known.contains(plan.handle) && PlanChunk.fitsQuery(plan.handle) {
            guard handles.count < limit else {
                areCut = true
                return nil
            }
            known.insert(plan.handle)
            handles.append(plan.handle)
            names[plan.handle] = plan.name
        }
        guard let next = page.next else { return nil }
        if number >= Self.mostPages { areCut = true }
        return areCut ? nil : next
    }
}
