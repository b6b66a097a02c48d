/// The available catalogues, one per locale. English has every message.
public struct MessageCatalogues: Sendable, Hashable {
    private(set) var catalogues: [LocaleTag: MessageCatalogue]

    /// The program's own catalogues.
    public static let builtIn: MessageCatalogues = {
        let texts = [("en", englishMessages), ("pl", polishMessages), ("ja", japaneseMessages)]
        // A test parses each catalogue and checks that no message is missing.
        let read = texts.compactMap { tag, json in
            LocaleTag(tag).flatMap { try? MessageCatalogue($0, json: json.utf8) }
        }
        return MessageCatalogues(catalogues: Dictionary(uniqueKeysWithValues: read.map { ($0.locale, $0) }))
    }()

    /// These catalogues, with the messages of `others` taking precedence.
    public func adding(_ others: [MessageCatalogue]) -> MessageCatalogues {
        var result = self
        for other in others {
            result.catalogues[other.locale] = catalogues[other.locale]?.overridden(by: other) ?? other
        }
        return result
    }

    /// The messages for a locale. Each falls back to the locale's language, then to English.
    public func messages(for locale: LocaleTag) -> Messages {
        let own = locale.chain.compactMap { catalogues[$0] }
        return Messages(locale: own.isEmpty ? .english : locale, chain: own + [catalogues[.english]].compactMap { $0 })
    }
}

/// The messages in one language.
public struct Messages: Sendable, Hashable {
    /// The requested locale; English if its language is unknown.
    public let locale: LocaleTag
    fileprivate let chain: [MessageCatalogue]

    /// The program's English messages.
    public static let english = MessageCatalogues.builtIn.messages(for: .english)

    /// The message with its variables replaced.
    public func text(_ key: MessageKey, _ arguments: [MessageVariable: MessageArgument] = [:]) -> String {
        text(key.rawValue, arguments)
    }

    /// The message of a kind of poll, with its variables replaced.
    public func text(
        _ text: PollText,
        of kind: PollKind,
        _ arguments: [MessageVariable: MessageArgument] = [:]
    ) -> String { self.text(text.key(of: kind), arguments) }

    private func text(_ key: String, _ arguments: [MessageVariable: MessageArgument]) -> String {
        let named = Dictionary(uniqueKeysWithValues: arguments.map { ($0.key.rawValue, $0.value) })
        for catalogue in chain {
            if let text = catalogue.text(key, named) { return text }
        }
        return key
    }
}

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
          "notifications.offers_to_my_projects.edited_title": "Offer Edited",
          "notifications.offers_to_my_projects.edited": "An offer to {projectName} was edited",
          "notifications.offers_to_my_projects.edited_unnamed": "An offer to one of your projects was edited",
          "notifications.offers_to_starred.single_title": "New Offer",
          "notifications.offers_to_starred.multiple_title": "New Offers",
          "notifications.offers_to_starred.single_update": "{projectName} has a new offer",
          "notifications.offers_to_starred.single_update_unnamed": "A starred project has a new offer",
          "notifications.offers_to_starred.multiple_updates": "{count, plural, one {There is {count} new offer to your starred projects} other {There are {count} new offers to your starred projects}}",
          "notifications.offers_to_starred.edited_title": "Offer Edited",
          "notifications.offers_to_starred.edited": "An offer to {projectName} was edited",
          "notifications.offers_to_starred.edited_unnamed": "An offer to a starred project was edited",
          "notifications.gives_to_me.single_title": "New Gift",
          "notifications.gives_to_me.multiple_title": "New Gifts",
          "notifications.gives_to_me.single_update": "You received a gift: {projectName}",
          "notifications.gives_to_me.single_update_unnamed": "You received a gift",
          "notifications.gives_to_me.multiple_updates": "{count, plural, one {You received {count} gift} other {You received {count} gifts}}",
          "notifications.gives_to_me.edited_title": "Gift Edited",
          "notifications.gives_to_me.edited": "A gift to you was edited: {projectName}",
          "notifications.gives_to_me.edited_unnamed": "A gift to you was edited",
          "notifications.gives_to_me.fulfills_offer": "You received a gift that honours an offer: {projectName}",
          "notifications.gives_to_me.fulfills_offer_unnamed": "You received a gift that honours an offer",
          "notifications.gives_to_my_projects.single_title": "New Gift",
          "notifications.gives_to_my_projects.multiple_title": "New Gifts",
          "notifications.gives_to_my_projects.single_update": "{projectName} received a gift",
          "notifications.gives_to_my_projects.single_update_unnamed": "One of your projects received a gift",
          "notifications.gives_to_my_projects.multiple_updates": "{count, plural, one {Your projects received {count} gift} other {Your projects received {count} gifts}}",
          "notifications.gives_to_my_projects.edited_title": "Gift Edited",
          "notifications.gives_to_my_projects.edited": "A gift to {projectName} was edited",
          "notifications.gives_to_my_projects.edited_unnamed": "A gift to one of your projects was edited",
          "notifications.gives_to_my_projects.fulfills_offer": "{projectName} received a gift that honours an offer",
          "notifications.gives_to_my_projects.fulfills_offer_unnamed": "One of your projects received a gift that honours an offer",
          "notifications.gives_to_starred.single_title": "New Gift",
          "notifications.gives_to_starred.multiple_title": "New Gifts",
          "notifications.gives_to_starred.single_update": "{projectName} received a gift",
          "notifications.gives_to_starred.single_update_unnamed": "A starred project received a gift",
          "notifications.gives_to_starred.multiple_updates": "{count, plural, one {Your starred projects received {count} gift} other {Your starred projects received {count} gifts}}",
          "notifications.gives_to_starred.edited_title": "Gift Edited",
          "notifications.gives_to_starred.edited": "A gift to {projectName} was edited",
          "notifications.gives_to_starred.edited_unnamed": "A gift to a starred project was edited",
          "notifications.gives_to_starred.fulfills_offer": "{projectName} received a gift that honours an offer",
          "notifications.gives_to_starred.fulfills_offer_unnamed": "A starred project received a gift that honours an offer",
          "notifications.gives_for_my_offers.single_title": "Offer Honoured",
          "notifications.gives_for_my_offers.multiple_title": "Offers Honoured",
          "notifications.gives_for_my_offers.single_update": "A gift honours your offer: {projectName}",
          "notifications.gives_for_my_offers.single_update_unnamed": "A gift honours one of your offers",
          "notifications.gives_for_my_offers.multiple_updates": "{count, plural, one {{count} gift honours your offers} other {{count} gifts honour your offers}}",
          "notifications.gives_for_my_offers.edited_title": "Gift Edited",
          "notifications.gives_for_my_offers.edited": "A gift that honours your offer was edited: {projectName}",
          "notifications.gives_for_my_offers.edited_unnamed": "A gift that honours one of your offers was edited",
          "notifications.confirmations_of_my_claims.single_title": "New Confirmation",
          "notifications.confirmations_of_my_claims.multiple_title": "New Confirmations",
          "notifications.confirmations_of_my_claims.single_update": "Your claim was confirmed: {projectName}",
          "notifications.confirmations_of_my_claims.single_update_unnamed": "One of your claims was confirmed",
          "notifications.confirmations_of_my_claims.multiple_updates": "{count, plural, one {You have {count} new confirmation} other {You have {count} new confirmations}}",
          "notifications.projects_of_interest.single_title": "New or Edited Project",
          "notifications.projects_of_interest.multiple_title": "New or Edited Projects",
          "notifications.projects_of_interest.single_update": "New or edited project: {projectName}",
          "notifications.projects_of_interest.single_update_unnamed": "There is a new or edited project without a name",
          "notifications.projects_of_interest.multiple_updates": "{count, plural, one {{count} project is new or edited} other {{count} projects are new or edited}}",
          "notifications.several_polls.title": "New Activity",
          "notifications.unnamed_project": "A project without a name",
          "notifications.more_names": "{count, plural, one {and {count} more} other {and {count} more}}",
          "notifications.following_part": "{count, plural, one {{count} more of {total}} other {{count} more of {total}}}",
          "notifications.change.fields": "Changed: {fields}",
          "notifications.change.edited": "Edited",
          "notifications.change.none": "Edited; no compared field changed",
          "notifications.change.comma": ", ",
          "notifications.field.name": "name",
          "notifications.field.description": "description",
          "notifications.field.location": "location",
          "notifications.field.url": "URL",
          "notifications.field.image": "image",
          "notifications.field.start_time": "start time",
          "notifications.field.end_time": "end time",
          "notifications.field.status": "status",
          "notifications.field.progress": "progress",
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
          "notifications.offers_to_my_projects.edited_title": "オファーの変更",
          "notifications.offers_to_my_projects.edited": "{projectName}へのオファーが変更されました",
          "notifications.offers_to_my_projects.edited_unnamed": "あなたのプロジェクトへのオファーが変更されました",
          "notifications.offers_to_starred.single_title": "新しいオファー",
          "notifications.offers_to_starred.multiple_title": "新しいオファー",
          "notifications.offers_to_starred.single_update": "{projectName}に新しいオファーがあります",
          "notifications.offers_to_starred.single_update_unnamed": "スター付きプロジェクトに新しいオファーがあります",
          "notifications.offers_to_starred.multiple_updates": "{count, plural, other {スター付きプロジェクトに#件の新しいオファーがあります}}",
          "notifications.offers_to_starred.edited_title": "オファーの変更",
          "notifications.offers_to_starred.edited": "{projectName}へのオファーが変更されました",
          "notifications.offers_to_starred.edited_unnamed": "スター付きプロジェクトへのオファーが変更されました",
          "notifications.gives_to_me.single_title": "新しいギフト",
          "notifications.gives_to_me.multiple_title": "新しいギフト",
          "notifications.gives_to_me.single_update": "ギフトが届きました：{projectName}",
          "notifications.gives_to_me.single_update_unnamed": "ギフトが届きました",
          "notifications.gives_to_me.multiple_updates": "{count, plural, other {#件のギフトが届きました}}",
          "notifications.gives_to_me.edited_title": "ギフトの変更",
          "notifications.gives_to_me.edited": "あなたへのギフトが変更されました：{projectName}",
          "notifications.gives_to_me.edited_unnamed": "あなたへのギフトが変更されました",
          "notifications.gives_to_me.fulfills_offer": "オファーを果たすギフトが届きました：{projectName}",
          "notifications.gives_to_me.fulfills_offer_unnamed": "オファーを果たすギフトが届きました",
          "notifications.gives_to_my_projects.single_title": "新しいギフト",
          "notifications.gives_to_my_projects.multiple_title": "新しいギフト",
          "notifications.gives_to_my_projects.single_update": "{projectName}にギフトが届きました",
          "notifications.gives_to_my_projects.single_update_unnamed": "あなたのプロジェクトにギフトが届きました",
          "notifications.gives_to_my_projects.multiple_updates": "{count, plural, other {あなたのプロジェクトに#件のギフトが届きました}}",
          "notifications.gives_to_my_projects.edited_title": "ギフトの変更",
          "notifications.gives_to_my_projects.edited": "{projectName}へのギフトが変更されました",
          "notifications.gives_to_my_projects.edited_unnamed": "あなたのプロジェクトへのギフトが変更されました",
          "notifications.gives_to_my_projects.fulfills_offer": "{projectName}にオファーを果たすギフトが届きました",
          "notifications.gives_to_my_projects.fulfills_offer_unnamed": "あなたのプロジェクトにオファーを果たすギフトが届きました",
          "notifications.gives_to_starred.single_title": "新しいギフト",
          "notifications.gives_to_starred.multiple_title": "新しいギフト",
          "notifications.gives_to_starred.single_update": "{projectName}にギフトが届きました",
          "notifications.gives_to_starred.single_update_unnamed": "スター付きプロジェクトにギフトが届きました",
          "notifications.gives_to_starred.multiple_updates": "{count, plural, other {スター付きプロジェクトに#件のギフトが届きました}}",
          "notifications.gives_to_starred.edited_title": "ギフトの変更",
          "notifications.gives_to_starred.edited": "{projectName}へのギフトが変更されました",
          "notifications.gives_to_starred.edited_unnamed": "スター付きプロジェクトへのギフトが変更されました",
          "notifications.gives_to_starred.fulfills_offer": "{projectName}にオファーを果たすギフトが届きました",
          "notifications.gives_to_starred.fulfills_offer_unnamed": "スター付きプロジェクトにオファーを果たすギフトが届きました",
          "notifications.gives_for_my_offers.single_title": "オファーを果たすギフト",
          "notifications.gives_for_my_offers.multiple_title": "オファーを果たすギフト",
          "notifications.gives_for_my_offers.single_update": "あなたのオファーを果たすギフトがあります：{projectName}",
          "notifications.gives_for_my_offers.single_update_unnamed": "あなたのオファーを果たすギフトがあります",
          "notifications.gives_for_my_offers.multiple_updates": "{count, plural, other {あなたのオファーを果たすギフトが#件あります}}",
          "notifications.gives_for_my_offers.edited_title": "ギフトの変更",
          "notifications.gives_for_my_offers.edited": "あなたのオファーを果たすギフトが変更されました：{projectName}",
          "notifications.gives_for_my_offers.edited_unnamed": "あなたのオファーを果たすギフトが変更されました",
          "notifications.confirmations_of_my_claims.single_title": "新しい確認",
          "notifications.confirmations_of_my_claims.multiple_title": "新しい確認",
          "notifications.confirmations_of_my_claims.single_update": "あなたの記録が確認されました：{projectName}",
          "notifications.confirmations_of_my_claims.single_update_unnamed": "あなたの記録が確認されました",
          "notifications.confirmations_of_my_claims.multiple_updates": "{count, plural, other {#件の新しい確認があります}}",
          "notifications.projects_of_interest.single_title": "新規または変更されたプロジェクト",
          "notifications.projects_of_interest.multiple_title": "新規または変更されたプロジェクト",
          "notifications.projects_of_interest.single_update": "新規または変更されたプロジェクト：{projectName}",
          "notifications.projects_of_interest.single_update_unnamed": "新規または変更された名前のないプロジェクトがあります",
          "notifications.projects_of_interest.multiple_updates": "{count, plural, other {新規または変更されたプロジェクトが#件あります}}",
          "notifications.several_polls.title": "新しいお知らせ",
          "notifications.unnamed_project": "名前のないプロジェクト",
          "notifications.more_names": "{count, plural, other {他#件}}",
          "notifications.following_part": "{count, plural, other {全{total}件の続き：#件}}",
          "notifications.change.fields": "変更：{fields}",
          "notifications.change.edited": "変更あり",
          "notifications.change.none": "変更あり（比較した項目に違いはありません）",
          "notifications.change.comma": "、",
          "notifications.field.name": "名前",
          "notifications.field.description": "説明",
          "notifications.field.location": "場所",
          "notifications.field.url": "URL",
          "notifications.field.image": "画像",
          "notifications.field.start_time": "開始日時",
          "notifications.field.end_time": "終了日時",
          "notifications.field.status": "状態",
          "notifications.field.progress": "進捗",
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

extension MessageCatalogues {
    static let polishMessages = #"""
        {
          "notifications.starred_projects.single_title": "Aktualizacja projektu",
          "notifications.starred_projects.multiple_title": "Aktualizacje projektów",
          "notifications.starred_projects.single_update": "Projekt {projectName} został zaktualizowany",
          "notifications.starred_projects.single_update_unnamed": "Projekt oznaczony gwiazdką został zaktualizowany",
          "notifications.starred_projects.multiple_updates": "{count, plural, one {Masz # nową aktualizację w projektach oznaczonych gwiazdką} few {Masz # nowe aktualizacje w projektach oznaczonych gwiazdką} many {Masz # nowych aktualizacji w projektach oznaczonych gwiazdką} other {Masz # nowej aktualizacji w projektach oznaczonych gwiazdką}}",
          "notifications.offers_to_me.single_title": "Nowa oferta",
          "notifications.offers_to_me.multiple_title": "Nowe oferty",
          "notifications.offers_to_me.single_update": "Masz nową ofertę: {projectName}",
          "notifications.offers_to_me.single_update_unnamed": "Masz nową ofertę",
          "notifications.offers_to_me.multiple_updates": "{count, plural, one {Masz # nową ofertę} few {Masz # nowe oferty} many {Masz # nowych ofert} other {Masz # nowej oferty}}",
          "notifications.offers_to_me.edited_title": "Zmieniona oferta",
          "notifications.offers_to_me.edited": "Oferta dla Ciebie została zmieniona: {projectName}",
          "notifications.offers_to_me.edited_unnamed": "Oferta dla Ciebie została zmieniona",
          "notifications.offers_to_my_projects.single_title": "Nowa oferta",
          "notifications.offers_to_my_projects.multiple_title": "Nowe oferty",
          "notifications.offers_to_my_projects.single_update": "Nowa oferta dla projektu {projectName}",
          "notifications.offers_to_my_projects.single_update_unnamed": "Nowa oferta dla jednego z Twoich projektów",
          "notifications.offers_to_my_projects.multiple_updates": "{count, plural, one {Masz # nową ofertę dla swoich projektów} few {Masz # nowe oferty dla swoich projektów} many {Masz # nowych ofert dla swoich projektów} other {Masz # nowej oferty dla swoich projektów}}",
          "notifications.offers_to_my_projects.edited_title": "Zmieniona oferta",
          "notifications.offers_to_my_projects.edited": "Oferta dla projektu {projectName} została zmieniona",
          "notifications.offers_to_my_projects.edited_unnamed": "Oferta dla jednego z Twoich projektów została zmieniona",
          "notifications.offers_to_starred.single_title": "Nowa oferta",
          "notifications.offers_to_starred.multiple_title": "Nowe oferty",
          "notifications.offers_to_starred.single_update": "Nowa oferta dla projektu {projectName}",
          "notifications.offers_to_starred.single_update_unnamed": "Nowa oferta dla projektu oznaczonego gwiazdką",
          "notifications.offers_to_starred.multiple_updates": "{count, plural, one {# nowa oferta dla projektów oznaczonych gwiazdką} few {# nowe oferty dla projektów oznaczonych gwiazdką} many {# nowych ofert dla projektów oznaczonych gwiazdką} other {# nowej oferty dla projektów oznaczonych gwiazdką}}",
          "notifications.offers_to_starred.edited_title": "Zmieniona oferta",
          "notifications.offers_to_starred.edited": "Oferta dla projektu {projectName} została zmieniona",
          "notifications.offers_to_starred.edited_unnamed": "Oferta dla projektu oznaczonego gwiazdką została zmieniona",
          "notifications.gives_to_me.single_title": "Nowy dar",
          "notifications.gives_to_me.multiple_title": "Nowe dary",
          "notifications.gives_to_me.single_update": "Masz nowy dar: {projectName}",
          "notifications.gives_to_me.single_update_unnamed": "Masz nowy dar",
          "notifications.gives_to_me.multiple_updates": "{count, plural, one {Masz # nowy dar} few {Masz # nowe dary} many {Masz # nowych darów} other {Masz # nowego daru}}",
          "notifications.gives_to_me.edited_title": "Zmieniony dar",
          "notifications.gives_to_me.edited": "Dar dla Ciebie został zmieniony: {projectName}",
          "notifications.gives_to_me.edited_unnamed": "Dar dla Ciebie został zmieniony",
          "notifications.gives_to_me.fulfills_offer": "Masz nowy dar, który realizuje ofertę: {projectName}",
          "notifications.gives_to_me.fulfills_offer_unnamed": "Masz nowy dar, który realizuje ofertę",
          "notifications.gives_to_my_projects.single_title": "Nowy dar",
          "notifications.gives_to_my_projects.multiple_title": "Nowe dary",
          "notifications.gives_to_my_projects.single_update": "Nowy dar dla projektu {projectName}",
          "notifications.gives_to_my_projects.single_update_unnamed": "Nowy dar dla jednego z Twoich projektów",
          "notifications.gives_to_my_projects.multiple_updates": "{count, plural, one {Masz # nowy dar dla swoich projektów} few {Masz # nowe dary dla swoich projektów} many {Masz # nowych darów dla swoich projektów} other {Masz # nowego daru dla swoich projektów}}",
          "notifications.gives_to_my_projects.edited_title": "Zmieniony dar",
          "notifications.gives_to_my_projects.edited": "Dar dla projektu {projectName} został zmieniony",
          "notifications.gives_to_my_projects.edited_unnamed": "Dar dla jednego z Twoich projektów został zmieniony",
          "notifications.gives_to_my_projects.fulfills_offer": "Nowy dar dla projektu {projectName} realizuje ofertę",
          "notifications.gives_to_my_projects.fulfills_offer_unnamed": "Nowy dar dla jednego z Twoich projektów realizuje ofertę",
          "notifications.gives_to_starred.single_title": "Nowy dar",
          "notifications.gives_to_starred.multiple_title": "Nowe dary",
          "notifications.gives_to_starred.single_update": "Nowy dar dla projektu {projectName}",
          "notifications.gives_to_starred.single_update_unnamed": "Nowy dar dla projektu oznaczonego gwiazdką",
          "notifications.gives_to_starred.multiple_updates": "{count, plural, one {# nowy dar dla projektów oznaczonych gwiazdką} few {# nowe dary dla projektów oznaczonych gwiazdką} many {# nowych darów dla projektów oznaczonych gwiazdką} other {# nowego daru dla projektów oznaczonych gwiazdką}}",
          "notifications.gives_to_starred.edited_title": "Zmieniony dar",
          "notifications.gives_to_starred.edited": "Dar dla projektu {projectName} został zmieniony",
          "notifications.gives_to_starred.edited_unnamed": "Dar dla projektu oznaczonego gwiazdką został zmieniony",
          "notifications.gives_to_starred.fulfills_offer": "Nowy dar dla projektu {projectName} realizuje ofertę",
          "notifications.gives_to_starred.fulfills_offer_unnamed": "Nowy dar dla projektu oznaczonego gwiazdką realizuje ofertę",
          "notifications.gives_for_my_offers.single_title": "Zrealizowana oferta",
          "notifications.gives_for_my_offers.multiple_title": "Zrealizowane oferty",
          "notifications.gives_for_my_offers.single_update": "Dar realizuje Twoją ofertę: {projectName}",
          "notifications.gives_for_my_offers.single_update_unnamed": "Dar realizuje jedną z Twoich ofert",
          "notifications.gives_for_my_offers.multiple_updates": "{count, plural, one {# dar realizuje Twoje oferty} few {# dary realizują Twoje oferty} many {# darów realizuje Twoje oferty} other {# daru realizuje Twoje oferty}}",
          "notifications.gives_for_my_offers.edited_title": "Zmieniony dar",
          "notifications.gives_for_my_offers.edited": "Dar, który realizuje Twoją ofertę, został zmieniony: {projectName}",
          "notifications.gives_for_my_offers.edited_unnamed": "Dar, który realizuje jedną z Twoich ofert, został zmieniony",
          "notifications.confirmations_of_my_claims.single_title": "Nowe potwierdzenie",
          "notifications.confirmations_of_my_claims.multiple_title": "Nowe potwierdzenia",
          "notifications.confirmations_of_my_claims.single_update": "Twój wpis został potwierdzony: {projectName}",
          "notifications.confirmations_of_my_claims.single_update_unnamed": "Jeden z Twoich wpisów został potwierdzony",
          "notifications.confirmations_of_my_claims.multiple_updates": "{count, plural, one {Masz # nowe potwierdzenie} few {Masz # nowe potwierdzenia} many {Masz # nowych potwierdzeń} other {Masz # nowego potwierdzenia}}",
          "notifications.projects_of_interest.single_title": "Nowy lub zmieniony projekt",
          "notifications.projects_of_interest.multiple_title": "Nowe lub zmienione projekty",
          "notifications.projects_of_interest.single_update": "Nowy lub zmieniony projekt: {projectName}",
          "notifications.projects_of_interest.single_update_unnamed": "Jest nowy lub zmieniony projekt bez nazwy",
          "notifications.projects_of_interest.multiple_updates": "{count, plural, one {# projekt jest nowy lub zmieniony} few {# projekty są nowe lub zmienione} many {# projektów jest nowych lub zmienionych} other {# projektu jest nowe lub zmienione}}",
          "notifications.several_polls.title": "Nowości",
          "notifications.unnamed_project": "Projekt bez nazwy",
          "notifications.more_names": "{count, plural, one {i jeszcze #} few {i jeszcze #} many {i jeszcze #} other {i jeszcze #}}",
          "notifications.following_part": "{count, plural, one {Kolejna # z {total}} few {Kolejne # z {total}} many {Kolejnych # z {total}} other {Kolejne # z {total}}}",
          "notifications.change.fields": "Zmieniono: {fields}",
          "notifications.change.edited": "Zmieniono",
          "notifications.change.none": "Zmieniono; żadne z porównywanych pól się nie różni",
          "notifications.change.comma": ", ",
          "notifications.field.name": "nazwa",
          "notifications.field.description": "opis",
          "notifications.field.location": "miejsce",
          "notifications.field.url": "adres URL",
          "notifications.field.image": "obraz",
          "notifications.field.start_time": "początek",
          "notifications.field.end_time": "koniec",
          "notifications.field.status": "stan",
          "notifications.field.progress": "postęp",
          "notifications.starred_projects.action_view": "Zobacz aktualizacje",
          "notifications.starred_projects.action_view_project": "Zobacz projekt",
          "notifications.starred_projects.action_view_all": "Zobacz wszystkie",
          "notifications.starred_projects.action_dismiss": "Odrzuć",
          "notifications.starred_projects.action_snooze": "Przypomnij za godzinę",
          "notifications.starred_projects.action_mark_read": "Oznacz jako przeczytane",
          "notifications.feature.starred_projects.title": "Nowa funkcja: projekty z gwiazdką",
          "notifications.feature.starred_projects.body": "Możesz teraz otrzymywać powiadomienia o projektach oznaczonych gwiazdką. Dotknij, aby dowiedzieć się więcej.",
          "staleness.banner.title": "Dane mogą być nieaktualne",
          "staleness.banner.message": "{hours, plural, one {Ostatnia aktualizacja # godzinę temu. Dotknij, aby odświeżyć.} few {Ostatnia aktualizacja # godziny temu. Dotknij, aby odświeżyć.} many {Ostatnia aktualizacja # godzin temu. Dotknij, aby odświeżyć.} other {Ostatnia aktualizacja # godziny temu. Dotknij, aby odświeżyć.}}",
          "staleness.banner.message_never": "Dane nie zostały jeszcze pobrane. Dotknij, aby odświeżyć.",
          "staleness.banner.action_refresh": "Odśwież teraz",
          "staleness.banner.action_settings": "Ustawienia",
          "staleness.banner.dismiss": "Odrzuć"
        }
        """#
}
