import StarwatchCore

/// The last seen state of a plan.
struct PlanSnapshot {
    /// The change that brought it.
    let jwt: JWTID
    /// `nil` if the stored text is of another form.
    let details: PlanDetails?
    /// Whether it is not stored yet.
    var isNew = false
}
