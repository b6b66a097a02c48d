/// A page of an identity's own plans. Only their handles are read.
public struct PlansPage: Sendable, Hashable {
    /// The handles of the plans, without unusable ones.
    public let handles: [String]
    /// The `beforeId` of the next page; `nil` if this is the last one.
    public let next: String?

    public init(handles: [String], next: String?) { (self.handles, self.next) = (handles, next) }

    public static let empty = PlansPage(handles: [], next: nil)

    /// Reads an answer; `nil` if the bytes are not JSON in UTF-8.
    public static func read(_ bytes: [UInt8]) -> Result<PlansPage, PageRejection>? {
        JSONValue.read(bytes, keys: PageKey.table) { page -> Result<PlansPage, PageRejection> in
            guard let data = page[.data], let count = data.count, count <= PageWire.longest else {
                return .failure(.notAPage)
            }
            let handles = data.elements.compactMap { item in
                item[.handleId]?.line.flatMap { $0.isEmpty || $0.utf8.count > ItemWire.longestHandle ? nil : $0 }
            }
            guard page[.hitLimit]?.bool == true else { return .success(PlansPage(handles: handles, next: nil)) }
            // The server numbers the rows of this report, in contrast to others.
            let last = data.elements.reduce(nil as JSONValue?) { $1 }
            guard let row = last?[.rowId]?.scalar ?? last?[.jwtId]?.text else {
                return .failure(PageRejection(violation: .hitLimit, issues: []))
            }
            return .success(PlansPage(handles: handles, next: row))
        }
    }
}
