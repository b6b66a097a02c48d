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
          "notifications.following_part": "{count, plural, one {Kolejna # z {total}} few {Kolejne # z {total}} many {Kolejnych # z {total}} other {Kolejne # z {total}}}",
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
