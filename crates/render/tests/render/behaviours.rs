//! What a person does on a page: clicks on one thing at a time, and scrolls.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use render::{Behaviour, Rendered, Renderer, Settings};

use crate::site::{Site, leads_to, render, settings};

fn scrolling() -> Settings {
    Settings { scroll: true, ..settings() }
}

/// Ten posts a page, up to five pages.
fn posts() -> Arc<Site> {
    let post = |n: usize| format!("<article style='height:200px'><a href=/post/{n}>Post {n}</a></article>");
    let site = (1..=5).fold(Site::new(), |site, page| {
        let posts: String = (page * 10 - 9..=page * 10).map(post).collect();
        site.file(&format!("/posts/{page}"), "text/html", posts)
    });
    Arc::new(site.file("/data", "application/json", "[]"))
}

const MORE: &str = "let page = 0; const more = async () => { if (page === 5) return; \
    const posts = await (await fetch('/posts/' + ++page)).text(); list.insertAdjacentHTML('beforeend', posts) };";

/// What pages do, how many posts they show in the end, and further links that they lead to.
fn pages() -> Vec<(&'static str, String, usize, &'static [&'static str])> {
    let watched = |observed: &str| {
        format!(
            "new IntersectionObserver(async ([entry]) => {{ if (entry.isIntersecting) {{ await more(); }} }}, {observed}).observe(end);"
        )
    };
    let rewatched = "const watch = new IntersectionObserver(async ([entry]) => { if (!entry.isIntersecting) return; \
        watch.unobserve(end); await more(); watch.observe(end) }); watch.observe(end);";
    vec![
        (
            "load more",
            format!("<div id=list></div><button id=b>More</button><script>{MORE} b.onclick = async () => {{ await more(); if (page === 5) b.remove() }}; more()</script>"),
            50,
            &[],
        ),
        (
            "load more, by a link, slowly",
            format!("<div id=list></div><a href='#' id=b>More</a><script>{MORE} b.onclick = event => {{ event.preventDefault(); setTimeout(more, 700) }}; more()</script>"),
            50,
            &[],
        ),
        (
            "the window scrolls",
            format!("<div id=list></div><script>{MORE} addEventListener('scroll', () => {{ \
                if (scrollY + innerHeight > document.documentElement.scrollHeight - 50) more() }}); more()</script>"),
            50,
            &[],
        ),
        (
            "the end of the window is in sight",
            format!("<div id=list></div><p id=end>end</p><script>{MORE} {}</script>", watched("{}")),
            50,
            &[],
        ),
        (
            "a container scrolls",
            format!("<div style='height:400px;overflow:auto' id=box><div id=list></div></div><script>{MORE} box.onscroll = () => {{ \
                if (box.scrollTop + box.clientHeight > box.scrollHeight - 50) more() }}; more()</script>"),
            50,
            &[],
        ),
        (
            "the end of a container is in sight",
            format!("<div style='height:400px;overflow:auto' id=box><div id=list></div><p id=end>end</p></div><script>{MORE} {rewatched}</script>"),
            50,
            &[],
        ),
        (
            "a chat that begins at its end, and grows upwards",
            format!("<div style='height:400px;overflow:auto' id=box><div id=list></div></div><script>{} \
                box.onscroll = () => {{ if (box.scrollTop < 50) more() }}; more()</script>", MORE.replace("beforeend', posts)", "afterbegin', posts); box.scrollTop = page === 1 ? 1e6 : 2000")),
            50,
            &[],
        ),
        (
            "the same from the bottom up, by its style",
            format!("<div style='height:400px;overflow:auto;display:flex;flex-direction:column-reverse' id=box><div id=list></div></div><script>{} \
                box.onscroll = () => {{ if (box.scrollTop - box.clientHeight < 50 - box.scrollHeight) more() }}; more()</script>", MORE.replace("beforeend", "afterbegin")),
            50,
            &[],
        ),
        (
            "rows that scroll across",
            "<div style='width:300px;overflow-x:auto;white-space:nowrap' id=a></div><div style='width:300px;overflow-x:auto;white-space:nowrap' dir=rtl id=b></div><script>\
             for (const box of [a, b]) for (let n = 0; n < 6; n++) { const part = document.createElement('div'); \
             part.style.cssText = 'display:inline-block;width:280px;height:40px'; box.append(part); new IntersectionObserver(([entry], watch) => { \
             if (entry.isIntersecting) { watch.disconnect(); part.innerHTML = `<a href=/${box.id}/${n}>x</a>` } }, {root: box}).observe(part) }</script>"
                .to_owned(),
            0,
            &["/a/0", "/a/5", "/b/0", "/b/5"],
        ),
        (
            "a row that begins again at its end",
            "<div style='width:300px;overflow-x:auto;white-space:nowrap' id=a><div style='display:inline-block;width:900px;height:40px'></div></div><script>\
             a.onscroll = () => { if (a.scrollLeft > 500) { a.scrollLeft = 0; a.innerHTML += '<a href=/end>x</a>' } }</script>"
                .to_owned(),
            0,
            &["/end"],
        ),
        (
            "a page that looks where it stands",
            "<div style='height:5000px'></div><p id=p></p><script>const add = to => p.innerHTML += `<a href=${to}>x</a>`; \
             const timer = setInterval(() => { if (scrollY > 2000) { add('/timer'); clearInterval(timer) } }, 200); \
             const look = () => { if (p.getBoundingClientRect().top < innerHeight) add('/frame'); else requestAnimationFrame(look) }; look()</script>"
                .to_owned(),
            0,
            &["/frame", "/timer"],
        ),
        (
            "tabs",
            "<div role=tablist><button role=tab aria-selected=true>A</button><button role=tab>B</button><button role=tab>C</button></div><div id=panel></div><script>\
             const tabs = [...document.querySelectorAll('[role=tab]')]; const shows = ['<a href=/a>x</a>', '<a href=/b>x</a>', '<button>inner</button>']; \
             const show = n => { tabs.forEach((tab, at) => tab.setAttribute('aria-selected', at === n)); panel.innerHTML = shows[n]; \
             const inner = panel.querySelector('button'); if (inner) inner.onclick = () => inner.outerHTML = '<a href=/c>x</a>' }; \
             tabs.forEach((tab, n) => tab.onclick = () => show(n)); show(0)</script>"
                .to_owned(),
            0,
            &["/a", "/b", "/c"],
        ),
        (
            "a menu, by the pointer, with buttons in it",
            "<button id=b>Menu</button><div id=m></div><script>b.onpointerdown = () => { m.innerHTML = m.innerHTML ? '' : \
             '<button id=one>One</button><button id=two>Two</button>'; if (m.innerHTML) { one.onclick = () => location = '/one'; \
             two.onclick = () => open('/two') } }</script>"
                .to_owned(),
            0,
            &["/one", "/two"],
        ),
        (
            "a dialog in the way",
            "<button id=a>Open</button><button id=b>Other</button><dialog id=d><a href=/in>x</a><button id=deep>Deep</button></dialog><script>\
             a.onclick = () => d.showModal(); deep.onclick = () => location = '/deep'; b.onclick = () => { if (!d.open) location = '/other' }</script>"
                .to_owned(),
            0,
            &["/deep", "/in", "/other"],
        ),
        (
            "what cannot be undone",
            "<div id=o></div><script>const start = () => { o.innerHTML = '<button id=a>A</button><button id=b>B</button>'; \
             a.onclick = async () => { await fetch('/data'); o.innerHTML = '<p>gone</p><a href=/a>x</a>' }; \
             b.onclick = () => o.innerHTML = '<p>away</p><a href=/b>x</a>' }; fetch('/data').then(start)</script>"
                .to_owned(),
            0,
            &["/a", "/b"],
        ),
        (
            "routes of an application",
            "<main id=o></main><script>const show = () => { const at = location.pathname; o.innerHTML = at === '/' ? \
             '<button id=a>A</button><button id=b>B</button>' : `<p>at ${at}</p><a href=${at}/in>x</a>`; if (at !== '/') return; \
             for (const [button, to] of [[a, '/x'], [b, '/y']]) button.onclick = () => { history.pushState({}, '', to); show() } }; \
             addEventListener('popstate', show); show()</script>"
                .to_owned(),
            0,
            &["/x", "/x/in", "/y", "/y/in"],
        ),
        (
            "another URL in the address bar since the page was loaded",
            "<div id=o></div><button id=a>A</button><button id=b>B</button><script>history.pushState({}, '', '/home'); \
             a.onclick = () => document.body.innerHTML = '<a href=/a>x</a>'; b.onclick = () => document.body.innerHTML = '<a href=/b>x</a>'</script>"
                .to_owned(),
            0,
            &["/a", "/b", "/home"],
        ),
        (
            "another URL, put in place of the page's own",
            "<div id=o></div><button id=a>A</button><button id=b>B</button><script>history.replaceState({}, '', '/home'); \
             a.onclick = () => document.body.innerHTML = '<a href=/a>x</a>'; b.onclick = () => document.body.innerHTML = '<a href=/b>x</a>'</script>"
                .to_owned(),
            0,
            &["/a", "/b", "/home"],
        ),
        (
            "tabs of which the first six show nothing",
            "<div id=o></div><script>for (let n = 1; n <= 12; n++) { const tab = document.createElement('button'); tab.textContent = 'tab'; \
             tab.onclick = () => { o.innerHTML = n > 6 ? `<a href=/tab/${n}>x</a>` : '<p>Nothing</p>' }; document.body.append(tab) }</script>"
                .to_owned(),
            0,
            &["/tab/7", "/tab/8", "/tab/9", "/tab/10", "/tab/11", "/tab/12"],
        ),
        (
            "buttons that say that they were pressed",
            "<button onclick=\"document.body.append('Copied! ')\">Copy</button><button class=b onclick=\"document.body.append('Saved! ')\">Save</button>\
             <div style='cursor:pointer' onclick=\"v.innerHTML = '<a href=/two>two</a>'\">Chapter 2</div><div id=v></div>"
                .to_owned(),
            0,
            &["/two"],
        ),
        (
            "buttons that lead back, or load the page again",
            "<button onclick='history.back()'>Back</button><button onclick='history.go(-1)'>Leave</button>\
             <a href='javascript:history.back()'>Return</a><button onclick='location.reload()'>Reload</button>\
             <button onclick='history.go(0)'>Refresh</button><button onclick='navigation.reload()'>Renew</button>\
             <button onclick=\"location = '/one'\">One</button><button onclick=\"location = '/two'\">Two</button>"
                .to_owned(),
            0,
            &["/one", "/two"],
        ),
        (
            "a dialog that is closed by leading back",
            "<div id=o></div><script>const show = () => { o.innerHTML = location.hash ? \
             '<button onclick=\"history.back()\">Close</button><a href=/in>x</a>' : \
             '<button onclick=\"history.pushState(1, 0, \\'#open\\'); show()\">Open</button><button onclick=\"location = \\'/other\\'\">Other</button>' }; \
             addEventListener('popstate', show); show()</script>"
                .to_owned(),
            0,
            &["/in", "/other"],
        ),
        (
            "forms that are buttons",
            "<form id=f action=/sent><button>One</button></form><form action=/sent><input type=hidden name=a><button id=b>Two</button></form>\
             <form action=/sent><input type=submit value=Three></form><form id=g action=/sent><input name=q><button>Four</button></form><p id=p></p><script>\
             const add = to => p.innerHTML += `<a href=${to}>x</a>`; f.onsubmit = event => { event.preventDefault(); add('/one') }; \
             g.onsubmit = () => add('/asked'); b.onclick = event => { event.preventDefault(); add(`/two/${event.detail}/${event.clientX > 0}`) }</script>"
                .to_owned(),
            0,
            &["/one", "/two/1/true"],
        ),
        (
            "choices that a script hears",
            "<label><input type=radio name=r value=1>1</label><label><input type=radio name=r value=2>2</label>\
             <label><input type=checkbox value=3>3</label><p id=p></p><script>document.addEventListener('change', event => { \
             p.innerHTML = `<a href=/${event.target.value}>x</a>` })</script>"
                .to_owned(),
            0,
            &["/1", "/2", "/3"],
        ),
        (
            "a list of which only a part is there",
            "<div style='height:300px;overflow:auto' id=box><div id=list style='height:5000px;position:relative'></div></div><script>\
             const show = () => { const first = Math.floor(box.scrollTop / 100); list.innerHTML = ''; for (let n = first; n < Math.min(first + 5, 50); n++) \
             list.innerHTML += `<a style='position:absolute;top:${n * 100}px' href=/row/${n}>x</a>` }; box.addEventListener('scroll', show); show()</script>"
                .to_owned(),
            0,
            &["/row/0", "/row/10", "/row/20", "/row/30", "/row/49"],
        ),
    ]
}

/// What is missing of a page.
fn missing(rendered: &Rendered, posts: usize, links: &[&str]) -> Vec<String> {
    if rendered.redirect.is_some() {
        return vec![format!("it leads to {:?}", rendered.redirect)];
    }
    let found: BTreeSet<String> = leads_to(rendered).into_iter().collect();
    let mut missing: Vec<String> =
        links.iter().filter(|link| !found.contains(**link)).map(|link| (*link).to_owned()).collect();
    let shown = rendered.html.matches("<article").count();
    if shown != posts {
        missing.push(format!("{shown} of {posts} posts"));
    }
    if rendered.left_out.total() > 0 {
        missing.push(rendered.left_out.to_string());
    }
    missing
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_seen_that_clicks_and_scrolls_show() {
    let renderer = Renderer::new(scrolling());
    let mut failures = Vec::new();
    for (name, does, count, links) in pages() {
        let site = posts();
        let rendered = render(&renderer, &format!("<body>{does}"), &site).await.expect(name);
        let asked = site.asked();
        let once: BTreeSet<&String> = asked.iter().collect();
        let again = asked.len() - once.len();
        failures.extend(missing(&rendered, count, links).into_iter().map(|missing| format!("{name}: {missing}")));
        failures.extend(
            leads_to(&rendered).iter().any(|to| to.starts_with("/sent")).then(|| format!("{name}: a form was sent")),
        );
        failures.extend((again > 1).then(|| format!("{name}: asked for again to restore the page: {asked:?}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_end_is_left_out_and_counted() {
    let renderer = Renderer::new(Settings { clicks_max: 60, ..scrolling() });
    let words = "const words = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');";
    let table = [
        (
            "a button leads one level deeper for ever",
            format!("<div id=o></div><script>{words} let n = 0; const deeper = () => {{ o.innerHTML = `<b>${{words[n++]}}</b><button>To ${{words[n]}}</button>`; \
                o.querySelector('button').onclick = deeper }}; deeper()</script>"),
            "1 actions left out (depth)",
        ),
        (
            "a button grows one level deeper for ever",
            "<div id=o></div><script>const deeper = at => { const next = document.createElement('div'); next.innerHTML = '<button>Deeper</button>'; \
             at.append(next); next.firstChild.onclick = () => deeper(next) }; deeper(o)</script>"
                .to_owned(),
            "1 actions left out (depth)",
        ),
        ("what looks alike and does nothing", "<button>Like</button>".repeat(12), ""),
        (
            "what is clicked does not end",
            "<p>Text</p><button onclick='for(;;);'>Hang</button><button class=b onclick=\"location = '/x'\">To x</button>".to_owned(),
            "1 actions left out (hangs)",
        ),
        (
            "switches that only change how it looks",
            "<button class=a onclick=\"document.body.classList.toggle('dark')\">Dark</button>\
             <button class=b onclick=\"document.body.style.zoom = 2\">Zoom</button>"
                .to_owned(),
            "",
        ),
        (
            "a feed without end",
            "<div id=l></div><script>const add = () => l.insertAdjacentHTML('beforeend', '<p style=\"height:900px\">x'); add(); \
             addEventListener('scroll', add)</script>"
                .to_owned(),
            "1 actions left out (growth)",
        ),
        (
            "a page that is never the same",
            format!("<p id=o></p><button>A</button><button>B</button><script>{words} let n = 0; setInterval(() => o.textContent = words[n++ % 12], 100)</script>"),
            "",
        ),
    ];
    let mut failures = Vec::new();
    for (name, does, expect) in table {
        let rendered = render(&renderer, &format!("<body>{does}"), &posts()).await.expect(name);
        let left_out = if rendered.left_out.total() == 0 { String::new() } else { rendered.left_out.to_string() };
        if left_out != expect && (expect.is_empty() || !left_out.contains(expect)) {
            failures.push(format!("{name}: {left_out}, not {expect}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_ends_clicks_and_is_told() {
    let short = Settings { page_time_max: Duration::from_secs(20), ..scrolling() };
    let slow = "<a href=/x>x</a><script>for (const name of 'abcdefghijklmnop') document.write(`<button class=${name} \
                onclick=\"for (let n = 0; n < 3e9; n++); document.body.append('${name}')\">${name}</button>`)</script>";
    let rendered = render(&Renderer::new(short), &format!("<body>{slow}"), &posts()).await.expect("a page");
    assert!(rendered.html.contains("href=\"/x\""));
    assert!(rendered.left_out.to_string().contains("render_time"), "{}", rendered.left_out);
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_of_the_user_run_after_the_rest_and_their_errors_are_told() {
    let opens = "document.querySelector('#secret').dispatchEvent(new Event('knock')); await new Promise(done => setTimeout(done, 3000)); \
                 await fetch('/data')";
    let table = [
        ("opens.js", opens, "", "href=\"/behind\""),
        (
            "throws.js",
            "await fetch('/data'); throw new TypeError('no such thing')",
            "throws.js: TypeError: no such thing",
            "",
        ),
        ("broken.js", "const = 1", "broken.js: SyntaxError: Unexpected token '='", ""),
    ];
    let page = "<body><p id=secret></p><script>secret.addEventListener('knock', () => setTimeout(() => \
                secret.innerHTML = '<a href=/behind>x</a>', 2000))</script>";
    for (name, script, error, shown) in table {
        let behaviour = Behaviour { name: name.to_owned(), script: script.to_owned() };
        let renderer = Renderer::new(Settings { behaviours: vec![behaviour], ..scrolling() });
        let rendered = render(&renderer, page, &posts()).await.expect(name);
        assert_eq!(rendered.script_errors.join("\n"), error, "{name}");
        assert!(rendered.html.contains(shown), "{name}: {}", rendered.html);
    }
    let endless = Behaviour { name: "endless.js".to_owned(), script: "await new Promise(() => {})".to_owned() };
    let renderer = Renderer::new(Settings { behaviours: vec![endless], ..scrolling() });
    let rendered = render(&renderer, page, &posts()).await.expect("a page");
    assert_eq!(rendered.script_errors, ["endless.js: did not end within a minute of the page's clock"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_plays_is_played_until_its_sources_are_known() {
    let site = Site::new()
        .file("/film.m3u8", "application/vnd.apple.mpegurl", "part-1.ts\npart-2.ts\n")
        .file("/part-1.ts", "video/mp2t", "part")
        .file("/sound.json", "application/json", "[\"/sound.ogg\"]");
    let site = Arc::new(site);
    let page = "<body><video preload=none id=film></video><audio id=sound></audio><script>\
        film.onplay = async () => { const parts = await (await fetch('/film.m3u8')).text(); await fetch('/' + parts.split('\\n')[0]) }; \
        sound.onplay = async () => { sound.src = (await (await fetch('/sound.json')).json())[0] }</script>";
    let rendered = render(&Renderer::new(scrolling()), page, &site).await.expect("a page");
    let asked = ["film.m3u8", "part-1.ts", "sound.json"].map(|file| format!("http://page.test/{file}"));
    assert_eq!(site.asked(), asked);
    assert!(rendered.html.contains("src=\"/sound.ogg\""), "{}", rendered.html);
    let many = format!("<body>{}", "<audio></audio>".repeat(25));
    let rendered = render(&Renderer::new(scrolling()), &many, &site).await.expect("a page");
    assert_eq!(rendered.left_out.to_string(), "5 actions left out (media)");
}

/// How often each page is shown.
const TIMES: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn the_same_page_shows_the_same_every_time() {
    // A busy machine takes its time: the limit of time is not what this tests.
    let page_time_max = Duration::from_secs(180);
    let renderer = Renderer::new(Settings { tabs: 4, page_time_max, ..scrolling() });
    let chosen = ["load more", "the window scrolls", "the end of a container is in sight", "tabs"];
    let pages: Vec<_> = pages().into_iter().filter(|(name, ..)| chosen.contains(name)).collect();
    assert_eq!(pages.len(), chosen.len());
    let mut first = vec![None; pages.len()];
    for time in 0..TIMES {
        let show = async |at: usize| {
            let (name, does, count, links) = &pages[at];
            let rendered = render(&renderer, &format!("<body>{does}"), &posts()).await.expect(name);
            assert_eq!(missing(&rendered, *count, links), Vec::<String>::new(), "{name}, time {time}");
            (leads_to(&rendered), rendered.html)
        };
        let shown: [_; 4] = tokio::join!(show(0), show(1), show(2), show(3)).into();
        for (at, shown) in shown.into_iter().enumerate() {
            assert_eq!(first[at].get_or_insert_with(|| shown.clone()), &shown, "{}, time {time}", pages[at].0);
        }
    }
}
