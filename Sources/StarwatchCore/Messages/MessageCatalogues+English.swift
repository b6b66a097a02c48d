extension MessageCatalogues {
    /// The texts of the requirements, word for word. Texts with a number are the form `other`.
    static let englishMessages = #"""
        {
          "notifications.starred_projects.single_title": "Project Update",
          "notifications.starred_projects.multiple_title": "Project Updates",
          "notifications.starred_projects.single_update": "{projectName} has been updated",
          "notifications.starred_projects.single_update_unnamed": "A starred project has been updated",
          "notifications.starred_projects.multiple_updates": "{count, plural, one {You have {count} new update in your starred projects} other {You have {count} new updates in your starred projects}}",
          "notifications.offers_to_me.single_title": "New Offer",
          "notifications.offers_to_me.multiple_title": "New Offers",
          "notifications.offers_to_me.single_update": "You have a new offer: {projectName}",
          "notifications.offers_to_me.single_update_unnamed": "You have a new offer",
          "notifications.offers_to_me.multiple_updates": "{count, plural, one {You have {count} new offer} other {You have {count} new offers}}",
          "notifications.offers_to_me.edited_title": "Offer Edited",
          "notifications.offers_to_me.edited": "An offer to you was edited: {projectName}",
          "notifications.offers_to_me.edited_unnamed": "An offer to you was edited",
          "notifications.offers_to_my_projects.single_title": "New Offer",
          "notifications.offers_to_my_projects.multiple_title": "New Offers",
          "notifications.offers_to_my_projects.single_update": "{projectName} has a new offer",
          "notifications.offers_to_my_projects.single_update_unnamed": "One of your projects has a new offer",
          "notifications.offers_to_my_projects.multiple_updates": "{count, plural, one {You have {count} new offer to your projects} other {You have {count} new offers to your projects}}",
          "notifications.unnamed_project": "A project without a name",
          "notifications.following_part": "{count, plural, one {{count} more of {total}} other {{count} more of {total}}}",
          "notifications.starred_projects.action_view": "View Updates",
          "notifications.starred_projects.action_view_project": "View Project",
          "notifications.starred_projects.action_view_all": "View All",
          "notifications.starred_projects.action_dismiss": "Dismiss",
          "notifications.starred_projects.action_snooze": "Snooze 1 Hour",
          "notifications.starred_projects.action_mark_read": "Mark as Read",
          "notifications.feature.starred_projects.title": "New Feature: Starred Projects",
          "notifications.feature.starred_projects.body": "You can now get notifications for projects you star. Tap to learn more.",
          "staleness.banner.title": "Data may be outdated",
          "staleness.banner.message": "{hours, plural, one {Last updated {hours} hour ago. Tap to refresh.} other {Last updated {hours} hours ago. Tap to refresh.}}",
          "staleness.banner.message_never": "Not updated yet. Tap to refresh.",
          "staleness.banner.action_refresh": "Refresh Now",
          "staleness.banner.action_settings": "Settings",
          "staleness.banner.dismiss": "Dismiss"
        }
        """#
}
