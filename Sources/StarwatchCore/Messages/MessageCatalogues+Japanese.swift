extension MessageCatalogues {
    static let japaneseMessages = #"""
        {
          "notifications.starred_projects.single_title": "プロジェクトの更新",
          "notifications.starred_projects.multiple_title": "プロジェクトの更新",
          "notifications.starred_projects.single_update": "{projectName}が更新されました",
          "notifications.starred_projects.single_update_unnamed": "スター付きプロジェクトが更新されました",
          "notifications.starred_projects.multiple_updates": "{count, plural, other {スター付きプロジェクトに#件の新しい更新があります}}",
          "notifications.offers_to_me.single_title": "新しいオファー",
          "notifications.offers_to_me.multiple_title": "新しいオファー",
          "notifications.offers_to_me.single_update": "新しいオファーがあります：{projectName}",
          "notifications.offers_to_me.single_update_unnamed": "新しいオファーがあります",
          "notifications.offers_to_me.multiple_updates": "{count, plural, other {#件の新しいオファーがあります}}",
          "notifications.offers_to_me.edited_title": "オファーの変更",
          "notifications.offers_to_me.edited": "あなたへのオファーが変更されました：{projectName}",
          "notifications.offers_to_me.edited_unnamed": "あなたへのオファーが変更されました",
          "notifications.offers_to_my_projects.single_title": "新しいオファー",
          "notifications.offers_to_my_projects.multiple_title": "新しいオファー",
          "notifications.offers_to_my_projects.single_update": "{projectName}に新しいオファーがあります",
          "notifications.offers_to_my_projects.single_update_unnamed": "あなたのプロジェクトに新しいオファーがあります",
          "notifications.offers_to_my_projects.multiple_updates": "{count, plural, other {あなたのプロジェクトに#件の新しいオファーがあります}}",
          "notifications.following_part": "{count, plural, other {全{total}件の続き：#件}}",
          "notifications.starred_projects.action_view": "更新を表示",
          "notifications.starred_projects.action_view_project": "プロジェクトを表示",
          "notifications.starred_projects.action_view_all": "すべて表示",
          "notifications.starred_projects.action_dismiss": "閉じる",
          "notifications.starred_projects.action_snooze": "1時間後に再通知",
          "notifications.starred_projects.action_mark_read": "既読にする",
          "notifications.feature.starred_projects.title": "新機能：スター付きプロジェクト",
          "notifications.feature.starred_projects.body": "スターを付けたプロジェクトの通知を受け取れるようになりました。タップして詳細をご覧ください。",
          "staleness.banner.title": "データが古い可能性があります",
          "staleness.banner.message": "{hours, plural, other {最終更新は#時間前です。タップして更新してください。}}",
          "staleness.banner.message_never": "まだ更新されていません。タップして更新してください。",
          "staleness.banner.action_refresh": "今すぐ更新",
          "staleness.banner.action_settings": "設定",
          "staleness.banner.dismiss": "閉じる"
        }
        """#
}
