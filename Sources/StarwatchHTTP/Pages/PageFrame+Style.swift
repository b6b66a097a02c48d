import StarwatchCore

extension PageFrame {
    /// Every pair of text and background has a contrast of at least 4.5; a test measures it in a browser.
    static let style: HTML = """

        :root {
          --page: #f6f5f1; --card: #fff; --line: #e4e2da; --text: #1d2126; --soft: #5b626a; --link: #2457a6;
          --good: #1c7443; --good-page: #e2f3e8; --warn: #805300; --warn-page: #fdf1d3;
          --bad: #b3261e; --bad-page: #fce8e6; --calm: #4a5560; --busy: #3b6fc4; --star: #c28a1c; --mark: #fff;
        }
        @media (prefers-color-scheme: dark) { :root {
          --page: #131518; --card: #1b1e22; --line: #2f343a; --text: #e8eaed; --soft: #a3abb4; --link: #8db4f0;
          --good: #6fcf97; --good-page: #15301f; --warn: #f0c35a; --warn-page: #352a0d;
          --bad: #ff9c94; --bad-page: #3d1a17; --calm: #a3abb4; --busy: #7da7ea; --star: #e0b04c; --mark: #131518;
        } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 70rem; padding: 1rem clamp(1rem, 4vw, 2rem) 2rem; background: var(--page);
          color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
          font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
        header { display: flex; align-items: center; justify-content: space-between; flex-wrap: wrap; gap: 0 1rem; }
        .brand { display: flex; align-items: center; gap: .45rem; font-weight: 600; color: var(--text);
          text-decoration: none; }
        .brand svg { width: 1.3rem; height: 1.3rem; fill: var(--star); }
        .asof { font-size: .85rem; color: var(--soft); }
        h1 { margin: 0; font-size: clamp(1.6rem, 5vw, 2.1rem); line-height: 1.2; letter-spacing: -.02em; }
        h2, caption { margin: 0; padding: 0 0 .7rem; font-size: 1rem; font-weight: 600; text-align: left; }
        p { margin: 0; }
        a { color: var(--link); }
        :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: .2rem; }
        small, .caption, .none { color: var(--soft); }
        small, .caption { font-size: .85rem; }
        time small { white-space: nowrap; }
        code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
        span.bad { color: var(--bad); font-weight: 600; }

        .verdict { display: flex; gap: 1rem; align-items: flex-start; padding: 1.75rem 0; }
        .verdict svg { flex: none; width: 2.5rem; height: 2.5rem; }
        .verdict path { fill: none; stroke: var(--mark); stroke-width: 2.4; stroke-linecap: round;
          stroke-linejoin: round; }
        .verdict.good svg { fill: var(--good); } .verdict.bad svg { fill: var(--bad); }
        .verdict.calm svg { fill: var(--calm); }
        .verdict > div { min-width: 0; overflow-wrap: anywhere; }
        .verdict.bad h1 { color: var(--bad); }
        .verdict p, .verdict ul { margin: .35rem 0 0; max-width: 56rem; }
        .verdict ul { padding: 0; list-style: none; }
        .verdict li + li { margin-top: .35rem; }

        .banner { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between;
          gap: .75rem 1.5rem; margin-bottom: 1rem; padding: .85rem 1.15rem; border-radius: .75rem;
          background: var(--warn-page); color: var(--warn); }
        .banner h2 { padding: 0; }
        .actions { display: flex; flex-wrap: wrap; gap: .6rem; }
        button, .button { display: inline-block; padding: .4rem .95rem; border: 1px solid; border-radius: .5rem;
          background: none; color: inherit; font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
        button:hover, .button:hover { background: var(--warn); color: var(--warn-page); }

        .card { padding: 1rem 1.15rem 1.1rem; border: 1px solid var(--line); border-radius: .75rem;
          background: var(--card); }
        .grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 1rem;
          margin-top: 1rem; }
        @media (min-width: 52rem) { .grid.wide { grid-template-columns: 2fr 1fr; } }
        .stack { display: grid; grid-template-rows: 1fr auto; gap: 1rem; }
        .pill { display: inline-block; padding: .05rem .6rem; border-radius: 1rem; font-size: .85rem; font-weight: 600;
          background: var(--line); color: var(--text); white-space: nowrap; }
        .pill.good { background: var(--good-page); color: var(--good); }
        .pill.warn { background: var(--warn-page); color: var(--warn); }
        .pill.bad { background: var(--bad-page); color: var(--bad); }
        .bar { display: block; width: 100%; height: 6px; border-radius: 3px; background: var(--line); }
        rect.good { fill: var(--good); } rect.warn { fill: var(--warn); } rect.bad { fill: var(--bad); }
        rect.busy { fill: var(--busy); }

        dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .35rem 1rem; margin: 0; }
        dt { color: var(--soft); }
        dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
        .numbers { grid-template-columns: repeat(4, 1fr); gap: .5rem; margin-bottom: .9rem; }
        .numbers div { display: flex; flex-direction: column-reverse; }
        .numbers { gap: .75rem; }
        .numbers dt { font-size: clamp(.7rem, 3.1vw, .9rem); }
        @media (max-width: 30rem) { .numbers { grid-template-columns: repeat(2, 1fr); } }
        .numbers dd { font-size: clamp(1.3rem, 5vw, 1.9rem); font-weight: 600; line-height: 1.2; text-align: left; }
        .numbers .bad, .numbers .bad dt { color: var(--bad); }
        .caption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem;
          margin: .4rem 0 .9rem; }

        table { width: 100%; border-collapse: collapse; }
        th { font-weight: 600; text-align: left; overflow-wrap: anywhere; }
        th, td { padding: .55rem 1rem .55rem 0; vertical-align: top; }
        thead th { padding-top: 0; font-size: .85rem; font-weight: 400; color: var(--soft); }
        th:last-child, td:last-child { padding-right: 0; }
        tbody tr:last-child > * { padding-bottom: 0; }
        tbody tr { border-top: 1px solid var(--line); }
        td:last-child:nth-child(2) { text-align: right; }
        .polls small { display: block; }
        .polls time { display: inline-block; vertical-align: top; }
        .polls .why { border: 0; }
        .polls .why td { padding-top: 0; text-align: left; }
        .polls .why time, .polls .why small { display: inline; }
        .polls .why small, .waits small { font-size: inherit; color: inherit; }
        .sinks th { min-width: 5rem; }
        .sinks td small { display: block; }
        .waits { margin: 0 0 .9rem; padding: .6rem .9rem; border-radius: .5rem; background: var(--warn-page);
          color: var(--warn); list-style: none; }
        .events { margin-top: 1rem; }
        .events ul { margin: 0; padding: 0; list-style: none; overflow-wrap: anywhere; }
        .events li { padding: .3rem 0; border-top: 1px solid var(--line); }
        .more { margin-top: .9rem; }
        .state { display: grid; gap: .35rem; justify-items: start; max-width: 9rem; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        @media (max-width: 52rem) {
          .polls thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          .polls, .polls tbody, .polls tr, .polls caption, .polls tbody th { display: block; }
          .polls tr { padding: .75rem 0; }
          .polls tr:last-child { padding-bottom: 0; }
          .polls th, .polls td { padding: .15rem 0; }
          .polls td > div { min-width: 0; }
          .polls td { display: flex; justify-content: space-between; gap: 1rem; text-align: right; }
          .polls .why { padding-top: 0; }
          .polls .why td { display: block; }
          .polls .why td::before { content: none; }
          .polls td::before { content: attr(data-label); color: var(--soft); text-align: left; white-space: nowrap; }
          .state { justify-items: end; }
        }

        .help { max-width: 56rem; }
        .help h1 { margin: 1.5rem 0 1rem; }
        .help .card + .card { margin-top: 1rem; }
        .help p + p, .help p + table, .help table + p { margin-top: .75rem; }
        .help th { font-weight: 400; }
        .help th:first-child { width: 30%; }
        .help td:last-child { text-align: left; }
        .runbooks th:first-child { width: 19rem; }
        .help .runbook { margin-top: 1rem; overflow: hidden; }
        .help .runbook h1 { margin: 0 0 .5rem; font-size: clamp(1rem, 4.4vw, 1.75rem); overflow-wrap: anywhere; }
        .runbook h2 { margin: 1.25rem 0 .5rem; }
        .runbook p, .runbook pre, .runbook ul, .runbook ol { margin: .5rem 0; }
        .runbook ul, .runbook ol { padding-left: 1.5rem; }
        .runbook pre { white-space: pre-wrap; }
        @media (max-width: 40rem) {
          .help thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          .help table, .help tbody, .help tr, .help caption, .help tbody th, .help td { display: block; width: auto; }
          .help tr { padding: .5rem 0; }
          .help th, .help td { padding: .1rem 0; }
        }

        .feed { max-width: 48rem; }
        .feed h1 { margin: 1.5rem 0 .35rem; }
        .feed ol, .feed ul { margin: 0; padding: 0; list-style: none; }
        .feed .live { min-height: 1.5rem; margin-bottom: .75rem; font-size: .9rem; color: var(--soft); }
        .feed li + li.card { margin-top: .75rem; }
        .feed article > * + * { margin-top: .35rem; }
        .feed .caption { flex-wrap: nowrap; align-items: baseline; margin: 0 0 .35rem; }
        .feed .caption time { flex: none; white-space: nowrap; }
        .feed .pill { white-space: normal; }
        @media (max-width: 40rem) { .feed .caption { flex-direction: column; } }
        .feed h2 { padding: 0; font-size: 1.1rem; }
        .feed h2, .feed article p, .feed li { overflow-wrap: anywhere; text-align: start; unicode-bidi: plaintext; }
        .feed article p { white-space: pre-line; }
        .feed ul li { padding-left: .75rem; border-left: 2px solid var(--line); }
        .feed ul li + li { padding-top: .25rem; }
        .feed ul small { display: inline-block; }
        .feed pre { margin: .75rem 0 0; overflow-x: auto; }

        .story form { display: grid; gap: .5rem; justify-items: start; margin-bottom: 1rem; }
        .story input { width: 100%; padding: .4rem .6rem; border: 1px solid var(--soft); border-radius: .5rem;
          background: var(--page); color: inherit; font: inherit; }
        .story dd { text-align: left; }
        .story td { overflow-wrap: anywhere; }
        .story .steps td:not(:last-child) { white-space: nowrap; overflow-wrap: normal; }
        .story .steps .failed { color: var(--bad); }
        .story .finished { color: var(--good); font-weight: 600; }
        .story .waiting { background: var(--warn-page); color: var(--warn); }
        .story .waiting small { color: inherit; }
        .story ul { margin: 0; padding-left: 1.2rem; }

        footer { margin-top: 1.5rem; padding-top: .75rem; border-top: 1px solid var(--line); font-size: .9rem; }
        nav { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; }
        nav a { padding: .3rem 0; }

        """
}
