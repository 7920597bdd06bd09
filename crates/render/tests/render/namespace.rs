//! In a network of its own, where every packet is seen, a browser sends none.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use model::{Headers, Refusal};
use render::{Page, Renderer, Served, Settings, Source, Wait, Wanted};
use tokio::time::Instant;
use weburl::{CanonicalRules, CanonicalUrl};

use crate::site::{page, settings};

/// Tells the process that it is the one in the network of its own.
const INSIDE: &str = "ARGIOPE_TEST_RENDER_NETWORK";
/// Pages shown: what leaves a browser races with the closing of its tab.
const PAGES: usize = 20;
/// Each page lives this long, which is enough for a packet to leave.
const PAGE_LIVES: Duration = Duration::from_millis(400);
/// The address of the one interface, and one behind it, to which there is a route.
const OWN: &str = "11.0.0.2";
const OTHER: &str = "11.0.0.9";
const OTHER_V6: &str = "2a00::9";
/// The group of multicast DNS.
const MDNS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
/// Longer than the system waits before it tells of an address or a group once more (RFC 3376 §8.11, RFC 9777 §9.11: a second at most).
const QUIET: Duration = Duration::from_secs(3);

/// Answers one path late, so that the page waits for it, and another with the script of workers; no other.
struct Late {
    worker: String,
}

impl Source for Late {
    fn get(&self, wanted: Wanted) -> Pin<Box<dyn Future<Output = Served> + Send + '_>> {
        Box::pin(async move {
            let script = vec![("Content-Type".to_owned(), "text/javascript".to_owned())];
            let (headers, body) = match wanted.url.rsplit('/').next() {
                Some("late") => (Headers::default(), "late".to_owned()),
                Some("worker.js") => (Headers(script), self.worker.clone()),
                _ => return Served::Refused(Refusal::NoAnswer),
            };
            tokio::time::sleep(PAGE_LIVES).await;
            Served::Answer { status: 200, headers, body: body.into() }
        })
    }
}

/// The ways that a worker has, of whatever kind.
const WORKER: &str = r#"
const quietly = f => { try { const r = f(); r && r.catch && r.catch(() => 0) } catch {} };
quietly(() => fetch('http://TO:PORT/of-worker', {mode: 'no-cors', keepalive: true}));
quietly(() => new WebSocket('ws://TO:PORT/of-worker'));
quietly(() => new WebTransport('https://TO:PORT/of-worker').ready);
quietly(() => new EventSource('http://TO:PORT/of-worker'));
quietly(() => importScripts('http://TO:PORT/of-worker.js'));
quietly(() => new Worker('/worker.js'));
onactivate = event => event.waitUntil(fetch('http://TO:PORT/activated', {mode: 'no-cors'}).catch(() => 0));
"#;

/// All the ways to the network that a page has, to an address of this machine and to others.
const LEAKING: &str = r#"
<head><link rel=preconnect href=http://TO:PORT><link rel=dns-prefetch href=//name.test><link rel=preconnect href=https://name.test>
<link rel=prefetch href=http://TO:PORT/prefetch><link rel=prerender href=http://TO:PORT/prerender>
<link rel=preload as=image href=http://TO:PORT/preload><link rel=modulepreload href=http://TO:PORT/module>
<script type=speculationrules>{"prefetch": [{"urls": ["http://TO:PORT/rules"]}], "prerender": [{"urls": ["/rules"]}]}</script></head>
<body><a ping=http://TO:PORT/ping href=#x id=a>x</a><script>
const quietly = f => { try { const r = f(); r && r.catch && r.catch(() => 0) } catch {} };
const servers = [{urls: ['stun:TO:PORT', 'stun:name.test:3478']},
  {urls: ['turn:TO:PORT', 'turn:TO:PORT?transport=tcp', 'turns:TO:PORT?transport=tcp'], username: 'u', credential: 'c'}];
const candidates = ['1 1 udp 2122260223 TO PORT typ host', '2 1 tcp 1518280447 TO PORT typ host tcptype passive',
  '3 1 udp 2122260222 0cbe7a5e-7a0c-4ac1-8c8b-2a6f6c5b7d11.local PORT typ host'];
quietly(async () => {
  const [a, b] = [new RTCPeerConnection({iceServers: servers, iceCandidatePoolSize: 4}), new RTCPeerConnection({iceServers: servers})];
  a.createDataChannel('x');
  await a.setLocalDescription();
  await b.setRemoteDescription(a.localDescription);
  await b.setLocalDescription();
  await a.setRemoteDescription(b.localDescription);
  for (const c of candidates) for (const p of [a, b])
    quietly(() => p.addIceCandidate({candidate: 'candidate:' + c, sdpMid: '0', sdpMLineIndex: 0}));
});
quietly(() => new WebTransport('https://TO:PORT/transport').ready);
quietly(() => new WebSocket('ws://TO:PORT/socket'));
quietly(() => new EventSource('http://TO:PORT/events'));
quietly(() => navigator.sendBeacon('http://TO:PORT/beacon', 'x'));
quietly(() => fetch('http://TO:PORT/post', {method: 'POST', body: 'x', keepalive: true, mode: 'no-cors'}));
quietly(() => fetch('http://TO:PORT/last', {keepalive: true, mode: 'no-cors'}));
quietly(() => navigator.serviceWorker.register('/worker.js'));
quietly(() => new Worker(URL.createObjectURL(new Blob([`fetch('http://TO:PORT/blob'); new WebSocket('ws://TO:PORT/s'); new WebTransport('https://TO:PORT/t')`]))));
quietly(() => new SharedWorker('data:text/javascript,fetch("http://TO:PORT/shared")'));
quietly(() => new Worker('/worker.js'));
quietly(() => new SharedWorker('/worker.js'));
quietly(() => a.click());
quietly(() => document.body.append(Object.assign(document.createElement('iframe'), {src: 'http://TO:PORT/frame'})));
onpagehide = () => navigator.sendBeacon('http://TO:PORT/gone', 'x');
fetch('/late');
</script><p>end</p>"#;

/// What went out of this network so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    /// UDP datagrams, and TCP connections that were begun (RFC 4113, RFC 4022).
    datagrams: u64,
    connections: u64,
    /// Packets of whatever protocol, those to addresses of this machine included.
    packets: u64,
}

fn sent() -> Sent {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).expect("the counters");
    let (four, six, devices) = (read("snmp"), read("snmp6"), read("dev"));
    let of_four = |protocol: &str, field: &str| {
        let mut lines = four.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(": "));
        let names = lines.next().expect("names").split(' ');
        let counts = lines.next().expect("counts").split(' ');
        let (_, count) = names.zip(counts).find(|(name, _)| *name == field).expect("a counter");
        count.parse::<u64>().expect("a number")
    };
    let of_six = |field: &str| {
        let mut counters = six.lines().filter_map(|line| line.strip_prefix(field)?.trim().parse::<u64>().ok());
        counters.next().expect("a counter")
    };
    let of_device = |name: &str| {
        let mut lines = devices.lines().filter_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
        let mut counts = lines.next().expect("a device").split_whitespace();
        // Behind the eight counters of what came.
        counts.nth(9).expect("a counter").parse::<u64>().expect("a number")
    };
    Sent {
        datagrams: of_four("Udp", "OutDatagrams") + of_six("Udp6OutDatagrams"),
        connections: of_four("Tcp", "ActiveOpens"),
        packets: of_device("lo") + of_device("wire"),
    }
}

/// What was sent, once nothing more is sent for a while: the system itself tells its neighbours of addresses and groups, more than once.
async fn sent_in_all() -> Sent {
    let (mut last, mut since) = (sent(), Instant::now());
    while since.elapsed() < QUIET {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if sent() != last {
            (last, since) = (sent(), Instant::now());
        }
    }
    last
}

fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).status().expect("the tests need iproute2");
    assert!(done.success(), "ip {arguments}");
}

#[test]
fn no_packet_leaves_a_page() {
    let inside = Command::new("unshare")
        .arg("--net")
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "namespace::inside", "--nocapture"])
        .env(INSIDE, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .expect("the tests need util-linux");
    let told = [inside.stdout, inside.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(inside.status.success() && told.contains(&format!("{PAGES} pages")), "{told}");
}

/// Shows pages in a network of its own, where it is asked to.
#[tokio::test(flavor = "multi_thread")]
async fn inside() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    for arguments in [
        "link set lo up",
        "link add wire type veth peer name far",
        // The system looks for no neighbour, and has no address of its own choice to tell of.
        "link set wire arp off addrgenmode none",
        "link set far arp off addrgenmode none",
        "link set far up",
        "addr add 11.0.0.2/24 dev wire",
        "-6 addr add 2a00::2/64 dev wire nodad",
        "link set wire up",
        "route add default via 11.0.0.1",
        "-6 route add default via 2a00::1",
    ] {
        ip(arguments);
    }
    let udp = UdpSocket::bind((OWN, 0)).expect("a free port");
    let port = udp.local_addr().expect("an address").port();
    let tcp = TcpListener::bind((OWN, port)).expect("the same port");
    udp.set_nonblocking(true).expect("a socket");
    tcp.set_nonblocking(true).expect("a socket");

    // What is counted here would be counted of a page: datagrams, and a packet of IGMP.
    let at_first = sent_in_all().await;
    let own = UdpSocket::bind("[::]:0").expect("a free port");
    own.send_to(b"x", (OTHER_V6, 9)).expect("a route");
    let own = UdpSocket::bind("0.0.0.0:0").expect("a free port");
    own.send_to(b"x", (OTHER, 9)).expect("a route");
    let datagrams = sent();
    assert_eq!((datagrams.datagrams, datagrams.packets), (at_first.datagrams + 2, at_first.packets + 2));
    own.join_multicast_v4(&MDNS, &OWN.parse().expect("an address")).expect("a group");
    let before = sent_in_all().await;
    assert!(before.packets > datagrams.packets && before.datagrams == datagrams.datagrams, "{datagrams:?}, {before:?}");

    // Its workers never answer: they would be waited for as long as the page's clock runs.
    let wait = Wait::Clock(PAGE_LIVES);
    let renderer = Renderer::new(Settings { pages_per_browser: PAGES as u32 / 2, wait, ..settings() });
    for n in 0..PAGES {
        let to = [OWN, OTHER, "[2a00::9]", "127.0.0.1"][n % 4];
        let [html, worker] = [LEAKING, WORKER].map(|text| text.replace("TO", to).replace("PORT", &port.to_string()));
        // Service workers are for pages of https.
        let url = ["http://page.test/", "https://page.test/"][n / 4 % 2];
        let page = Page { url: CanonicalUrl::parse(url, &CanonicalRules::default()).expect("a URL"), ..page(&html) };
        let rendered = renderer.render(&page, Arc::new(Late { worker })).await.expect("a page");
        assert!(rendered.html.contains("<p>end</p>"), "{}", rendered.html);
        assert_eq!(sent(), before, "page {n}, to {to}");
    }
    drop(renderer);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(sent(), before, "after the last page");
    assert!(tcp.accept().is_err() && udp.recv(&mut [0; 64]).is_err(), "something came");
    println!("{PAGES} pages");
}
