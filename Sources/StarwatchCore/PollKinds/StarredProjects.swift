extension PollKind {
    /// Changes of plans that the identity has starred.
    public static let starredProjects = PollKind(
        PollTraits(
            name: "starred_projects",
            item: .plan,
            endpoint: .plansChanged,
            scope: .starredPlans,
            announced: "Changes of starred projects",
            leftOut: "of a project without a star"
        )
    )
}
