/// The relevant part of the R-EP-22 response.
struct AcknowledgeAnswer: Decodable {
    var acknowledged: Int?
    var failed: Int
    var alreadyAcknowledged: Int?

    /// Returns `true` if all `count` identifiers are now acknowledged.
    func isSuccess(of count: Int) -> Bool {
        guard failed == 0 else { return false }
        // A response without counts reports only that nothing failed.
        guard acknowledged != nil || alreadyAcknowledged != nil else { return true }
        let (sum, overflow) = (acknowledged ?? 0).addingReportingOverflow(alreadyAcknowledged ?? 0)
        return !overflow && sum == count
    }
}
