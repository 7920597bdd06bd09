#!/usr/bin/env python3
"""Writes the seed corpora, seeds/<target>/: small inputs of our own, one for each thing a reader has to understand.

Run it in this directory after a change here. The files are committed, because compressed ones may come out
differently with another zlib.
"""

import base64
import gzip
import hashlib
import pathlib
import zlib

SEEDS = pathlib.Path(__file__).parent / "seeds"


def write(target, name, content):
    directory = SEEDS / target
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def url(name, base, scope, reference):
    write("url", name, f"{base}\n{scope}\n{reference}")


def robots(name, path, body):
    write("robots", name, path.encode() + b"\n" + (body if isinstance(body, bytes) else body.encode()))


def html(name, content_type, page):
    write("html", name, content_type.encode() + b"\n" + (page if isinstance(page, bytes) else page.encode()))


def links(name, page):
    write("links", name, page)


def member(content):
    return gzip.compress(content, mtime=0)


def urls():
    url("relative", "http://example.com/a/b/c?q", "domain", "../d/./e?x=1#top")
    url("host", "https://WWW.Example.CO.UK:443", ".co.uk", "//xn--maana-pta.example:8080/ñ?ü=%fc")
    url("addresses", "http://[2001:DB8::1]:81/", "host", "http://0x7f.1./a")
    url("userinfo", "http://user:pass@a.test/%7euser/%2e%2E/%2f", "prefix", "?b=2&a=1&&a=%41")
    url("sessions", "http://www.a.test//x//p;jsessionid=1/q", "site", "p;jsessionid=1A?sid=2&utm_source=z&id=3")
    url("pattern", "http://a.test/cgi-bin/x", "http*://*cgi-bin/*", "http://a.test/y/cgi-bin/x.pdf")
    url("idna", "http://faß.example/", "any", "http://ｅｘａｍｐｌｅ。com/\u3002")
    url("percent", "http://a.test/100%/%zz%4", "*.pdf", "/%%41%2541%e3%83%84")
    url("schemes", "https:a.test", "..", "javascript:void(0)")
    url("space", "  http://a.test/\ta", " *a*b* ", "\\\\b.test\\c d\r\n")


def robots_files():
    robots("groups", "/private/a.html", """\ufeff# for everybody
User-agent: *
Disallow: /
User-agent: Argiope/1.0
User-agent: other
Disallow: /private/
Allow: /private/*.html$ # but these
Crawl-delay: 1.5
Sitemap: https://example.com/sitemap.xml
""")
    robots("slips", "/a?b=c%2fd", "useragent argiope\r\ndisalow /a\r\ncrawl delay: 2,5s\r\nsite-map: /s.xml\r\rAllow: /a?*d$\r")
    robots("escapes", "/%7Eu/ツ?u=https%3A%2F%2Fb", "User-agent: *\nDisallow: /~u/%E3%83%84?u=https://b\nAllow: /*%2f$\n")
    robots("wildcards", "/aaaaaaaaaaaaaaaaaaaaaa", "User-agent: *\nDisallow: /*a*a*a*a*a*b\nAllow: /**a$$\nDisallow: *\nDisallow:\n")
    robots("delays", "/", "User-agent: a\nCrawl-delay: 9\nUser-agent: argiope\nCrawl-delay: 99999999\nUser-agent: *\nCrawl-delay: .5\n")
    robots("page", "/robots.txt", "<!DOCTYPE html><title>Not found</title><a href=\"http://x/\">x</a>\n")
    robots("bytes", "/\x00", b"\xff\xfeU\x00s\x00\nUser-agent: *\nDisallow: /\xc3\xa9\x00\nAllow: /\xe9\n")


def pages():
    html("page", "text/html; charset=utf-8", """<!DOCTYPE html><html lang=sl><head><title> A  page &amp; more </title>
<base href="/base/"><meta name=robots content="noindex, nofollow"><meta http-equiv=refresh content="5; url='/next'">
<link rel=canonical href=/canonical><link rel="alternate next" href=n><link rel=prev href=p></head>
<body><a href=" /a b&#x20;" rel="nofollow ugc">anchor <b>text</b><img src=i.png alt=image width=1 height=2px></a>
<area href=area><iframe src=frame></iframe><p onclick="window.location.href = '/click\\u0041'">click</p></body></html>""")
    html("images", "", "<img srcset='a 1x, b 2x,c' src=data:image/gif;base64,R0lGODlh><picture><source srcset='d, e 3w'></picture><img src=data:,%41>")
    html("raw", "", "<title>a</titl</title><script><!--<script></script>--></script><style></style><textarea><a href=x></textarea><noscript><a href=n>n</a><img src=s></noscript><template><a href=t></template><xmp><a></xmp><plaintext><a href=p>")
    html("foreign", "", "<svg><a xlink:href=s>text<title>t</title></a><script>x</script><foreignObject><a href=f></svg><math><mi><![CDATA[<a href=c>]]></math><svg/><p>")
    html("broken", "", "</p><a href=1<a href=2 href=3 a=\"b'>c&lt&#0;&#x110000;&notit;&copy</a x=y><!-->--!><!DOCTYPE><?pi><a\0href=z>")
    html("latin2", "text/html; charset=iso-8859-2", "<a href=\"/č?č=č\">čšž</a>".encode("iso-8859-2"))
    html("meta", "", "<meta http-equiv=content-type content='text/html; charset=shift_jis'><a href=/x>テスト</a>".encode("shift_jis"))
    html("bom", "text/html; charset=x", "\ufeff<a href=/x>tesť</a>".encode("utf-16-le"))
    html("detect", "", "<p>Привет, мир, это страница</p>".encode("windows-1251"))
    html("ignored", "text/html", "<a href=mailto:a@b>m</a><a href='java\nscript:x'>j</a><a href=tel:1><a href=data:,x><a href=ftp://x/><a href=#top></a><a href><frame src=f>")
    html("refresh", "multipart/x;charset=\"utf-8", "5; url=\"/a\"")
    html("robots", "", "otherbot: noindex, argiope: nofollow, unavailable_after: 25 Jun 2010 15:00:00 PST, none")
    html("data", "", "data:image/PNG;charset=x; base64 ,iVBORw0%4bGgo=#x")


def pages_of_links():
    links("page", "<!DOCTYPE html><html><head><title>t<a href=t></title><base href=b></head><body><p><a href=1>x</a><img src=2 alt='<a href=3>'></p></body></html>")
    links("anchors", "<A HREF='1'><a title=\">\" href = \"2\" ><a\nhref=3/><a href=4 href=no><a/href=5><a =href=6><a href==7><a href='\n 8 \t'><a href><a href=9\0x>")
    links("references", "<a href=1&copy=2&amp;b&lt;c&notit;&para><a href=\"&#x41;&#65;&#0;&#x110000;&#128;\"><img src='&nGt;&amp'>")
    links("schemes", "<a href=mailto:a><a href='java\nscript:b'><a href=HTTPS://c><a href=d:80/><img src=data:,x><img src=''><image src=e>")
    links("comments", "<!-- <a href=1> --!><a href=2><!--><a href=3><!-> --><a href=4><!x <a href=5>><?php '<a href=6>' ?></ <a href=7>></><a href=8")
    links("scripts", "<script>'<a href=1>'<!--<script></script><a href=2>--></script><a href=3><script><!--</script><a href=4>")
    links("raw", "<style><a href=1></style x><textarea>\n<a href=2></textareas></textarea><xmp><a href=3></xmp><iframe><a href=4></iframe><noembed><a href=5></noembed><noframes><a href=6></noframes><plaintext><a href=7>")
    links("noscript", "<head><noscript><link><a href=1><img src=2></noscript></head><p><noscript><script><a href=3></script><template><a href=4></noscript><a href=5>")
    links("templates", "<template><a href=1><template></template><img src=2></template></template><a href=3><table><template><tr></table></template><a href=4>")
    links("tables", "<table><a href=1><tr><td><a href=2></td><caption><a href=3></table><col><a href=4><select><option><a href=5></select>")
    links("formatting", "<a href=1><b><p><a href=2></b>x</p><nobr><i><nobr></a><h1><a href=3><h2></a><form><button><form><button><a href=4>")
    links("svg", "<svg><a xlink:href=1>x</a><title><a href=2></title><style><a href=3></style><script/><![CDATA[<a href=4>]]><foreignObject><style><a href=5></style><![CDATA[<a href=6>]]></foreignObject></svg>")
    links("math", "<math><mi><a href=1></a></mi><annotation-xml encoding='text/html'><title><a href=2></title></annotation-xml><annotation-xml><svg><desc><xmp><a href=3></xmp></desc></svg></annotation-xml></math>")
    links("breakout", "<svg><g><p><a href=1></p></g><math><font><a xlink:href=2></font><font color=red><a xlink:href=3></font></math></svg></p><a href=4>")
    links("frames", "<html><frameset><frame src=1><noframes><a href=2></noframes></frameset><a href=3>")


def sitemaps():
    urlset = """<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://example.com/?a=1&amp;b=2 </loc><lastmod>2026-11-21</lastmod><image:image><image:loc>/i</image:loc></image:image></url>
<url><loc><![CDATA[https://example.com/]]></loc><priority>1</priority></url><url></url></urlset>"""
    write("sitemap", "urlset", urlset)
    write("sitemap", "urlset.gz", member(urlset.encode()))
    write("sitemap", "two-members.gz", member(b"http://a.test/1\n") + member(b"http://a.test/2\n"))
    write("sitemap", "index", "<sm:sitemapindex><sm:sitemap><sm:loc>https://example.com/s.xml.gz</sm:loc></sm:sitemap><sitemap><loc>&#x2f;x</loc>")
    write("sitemap", "text", "\ufeffhttp://a.test/1\r\n  HTTPS://a.test/2 \n\nnot a url\n/3")
    write("sitemap", "rss", "<rss><channel><link>c</link><item><link>/i</link><pubDate>Sat, 21 Nov 2026</pubDate></item><item><guid>g</guid><dc:date>d</dc:date></item></channel></rss>")
    write("sitemap", "rdf", "<rdf:RDF><item rdf:about='a'><link>http://a.test/r</link></item></rdf:RDF>")
    write("sitemap", "atom", "<feed><link href='/self' rel=self/><entry><link rel='alternate' href='/e?a&amp;b'/><updated>2026</updated></entry><entry><link href=x></link></entry></feed>")
    write("sitemap", "broken", "<!DOCTYPE urlset [<!ENTITY x 'y'>]><urlset><url><loc>http://a.test/&x;&bad &#xZ;</loc></url><url><loc>http://a.test/2<url><loc>3</loc><!-- -- --></x></urlset")
    write("sitemap", "page", "<!DOCTYPE html><html><body><url><loc>x</loc></url></body></html>")
    write("sitemap", "utf16", urlset.replace("UTF-8", "UTF-16").encode("utf-16"))
    write("sitemap", "latin1", b"<urlset><url><loc>http://a.test/\xe9</loc></url></urlset>")


def requisites():
    page = """<base href=/b/><link rel="stylesheet icon" href=s.css><style>p{background:url(a.png)}</style><img src=i.png srcset="j.png 2x" data-src=k.png>
<iframe srcdoc="<img src=l.png>"></iframe><script type=module>import "./m.js"</script><script type=importmap>{"imports":{"x":"/n.js"}}</script>"""
    write("requisites", "page", "\0" + page)
    write("requisites", "css", "\1@charset 'x';@\\69mport url( a.css ) layer;/* c */p{x:url(b\\)c.png),image-set('d.png' type('e'));y:url(f g)}@namespace url(n);'open\n")
    write("requisites", "script", "\2import a,{b as c}from'./a.js';export*from\"./b.js\";`${import('./c.js')}`;x=/['\"]/;// import './d.js'\n")
    write("requisites", "manifest", '\3{"icons":[{"src":"a.png"},1],"shortcuts":[{"icons":[{"src":"b.png"}]}]}')


def sha1(content):
    return "sha1:" + base64.b32encode(hashlib.sha1(content).digest()).decode()


def record(kind, number, block, *fields):
    identity = f"<urn:uuid:00000000-0000-4000-8000-{number:012}>"
    head = [f"WARC-Type: {kind}", f"WARC-Record-ID: {identity}", "WARC-Date: 2026-11-21T01:02:03Z", *fields]
    head = "\r\n".join(["WARC/1.1", *head, f"Content-Length: {len(block)}", "", ""])
    return head.encode() + block + b"\r\n\r\n"


def warcs():
    uri = "WARC-Target-URI: http://example.com/a?b=c"
    body = b"<p>hello"
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
    response_type = "Content-Type: application/http; msgtype=response"
    records = [
        record("warcinfo", 1, b"software: x\r\n", "Content-Type: application/warc-fields", "WARC-Filename: x.warc.gz"),
        record("response", 2, http, uri, response_type, f"WARC-Block-Digest: {sha1(http)}", f"WARC-Payload-Digest: {sha1(body)}"),
        record("request", 3, b"GET /a?b=c HTTP/1.1\r\nHost: example.com\r\n\r\n", uri, "Content-Type: application/http; msgtype=request",
               "WARC-Concurrent-To: <urn:uuid:00000000-0000-4000-8000-000000000002>"),
        record("revisit", 4, b"HTTP/1.1 304 Not Modified\r\n\r\n", uri, response_type,
               "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", f"WARC-Payload-Digest: {sha1(body)}"),
        record("resource", 5, b"x", "WARC-Target-URI: <dns:example.com>", "Content-Type: text/dns"),
        record("metadata", 6, b"fetchTimeMs: 5\r\n", uri, "WARC-Concurrent-To: <urn:x:elsewhere>"),
    ]
    write("warc", "plain", b"".join(records))
    write("warc", "members.gz", b"".join(map(member, records)))
    write("warc", "one.gz", member(records[1]))
    write("warc", "cut.gz", b"".join(map(member, records[:3]))[:-9])
    write("warc", "hole.gz", member(records[0]) + bytes(40) + member(records[1])[:60] + member(records[4]))
    write("warc", "hole", records[0] + b"rubbish\r\n\r\n" + records[4] + records[5][:-4] + records[1])
    write("warc", "one-member.gz", member(b"".join(records[:3])))
    write("warc", "mixed", records[0] + member(records[1]))
    write("warc", "archived-archive", record("resource", 7, b"".join(records[4:]), "WARC-Target-URI: http://a.test/x.warc", "Content-Type: text/x;y"))
    write("warc", "old", b"WARC/1.0\nwarc-type: RESPONSE\nwarc-target-uri: <http://a.test/>\nX-Long: a\n  b\nContent-Length:3\n\nabc\r\n\r\n")
    write("warc", "chunked", record("response", 8, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", uri, response_type, f"WARC-Payload-Digest: {sha1(b'x')}"))
    write("warc", "length", records[4].replace(b"Content-Length: 1", b"Content-Length: 18446744073709551615"))


def answers():
    """The first byte: odd for HEAD."""
    get, head = b"\x00", b"\x01"
    write("http1", "length", get + b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello")
    write("http1", "close", get + b"HTTP/1.0 200 OK\r\n\r\nhello")
    write("http1", "chunked", get + b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n")
    write("http1", "chunked-lf", get + b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\nx\n0\n\n")
    write("http1", "interim", get + b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
    write("http1", "head", head + b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    write("http1", "sloppy", get + b"HTTP/1.1 200\r\nA : b\r\n continued\r\nno field\r\nContent-Length: 1, 1\r\nConnection: close\r\n\r\nx")
    write("http1", "lengths", get + b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy")
    write("http1", "switched", get + b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")


def payloads():
    """The first byte names the coding, in the order of `CODINGS` in properties/coding.rs."""
    text = b"<p>hello " * 20
    write("coding", "gzip", b"\x00" + member(text))
    write("coding", "gzip-members", b"\x00" + member(text) + member(b"more"))
    write("coding", "gzip-cut", b"\x00" + member(text)[:-9])
    write("coding", "deflate-zlib", b"\x01" + zlib.compress(text))
    write("coding", "deflate-raw", b"\x01" + zlib.compress(text)[2:-4])
    write("coding", "br", b"\x02" + bytes.fromhex("0b028068656c6c6f03"))
    write("coding", "zstd", b"\x03" + bytes.fromhex("28b52ffd200529000068656c6c6f"))
    write("coding", "two", b"\x04" + bytes.fromhex("0b028068656c6c6f03"))
    write("coding", "identity", b"\x05" + text)


def stores():
    """The records whose bytes the tests of the store's codec pin."""
    key = "0000000000000001 0000000000000002"
    text = "0e 687474703a2f2f612e746573742f"
    records = [
        ("url", 0, f"01 7f ac02 02 03 02 8001 {key} {text}"),
        ("url-seed", 0, f"01 00 00 00 00 {text}"),
        ("visit", 1, f"01 7f 03 06 9403 01 05 0a 0b 03 776879 09 746578742f68746d6c {'07' * 20} {key} {text} 00 07 c801 09 ac02 02"),
        ("visit-before", 1, f"01 3f 03 06 9403 01 05 0a 0b 03 776879 09 746578742f68746d6c {'07' * 20} {key} {text} 00 07 c801 09"),
        ("outlinks", 2, "01 02 01 61 00"),
        ("site", 3, "01 05 0d 687474703a2f2f612e74657374 7f000001 ac02 02 03 04 05 06 02 0000000000000007 08 ffffffffffffffff 09 05 02 6e6f"),
        ("site-aside", 3, "01 0d 0d 687474703a2f2f612e74657374 7f000001 ac02 02 03 04 05 06 02 0000000000000007 08 ffffffffffffffff 09 05 02 6e6f ac02 03 06 04 736c6f77"),
        ("shape", 8, "01 ac02"),
        ("robots", 4, "01 01 02 00 c801 02 0102"),
        ("robots-failed", 4, "01 01 02 01 0a 00"),
        ("segment", 5, "01 ac02 01 73"),
        ("seed", 6, f"01 {text}"),
        ("progress", 7, "01 01 02 03 04 05 06 07 02 01 ac02 0f 01"),
        ("outlinks-endless", 2, "01 ffffffffffffffffff01"),
        ("site-duration", 3, "01 00 0d 687474703a2f2f612e74657374 00 00 00 80 94 eb dc 03 00 00 00"),
    ]
    for name, table, record in records:
        write("store", name, bytes([table]) + bytes.fromhex(record))


def queries():
    secret = bytes(range(16))
    frame = lambda message: len(message).to_bytes(8, "little") + message
    write("query", "hello", secret + (3).to_bytes(4, "little") + b"\x01")
    write("query", "other-purpose", secret + (3).to_bytes(4, "little") + b"\x02")
    write("query", "endless", b"\xff" * 8 + b"[]")
    write("query", "names", frame(b'[[[1,2],"http://a.test/"],[[18446744073709551615,0],"\\u0000"]]'))
    write("query", "overlap", frame(b"[[1,2],[3,4],[[[[1,2],[3,4]]],[]]]"))
    write("query", "known", frame(b"[true,false]"))
    write("query", "number", frame(b"18446744073709551615"))
    write("query", "bare", b"[[[1,2],3]]")
    start = '{"id":"00112233445566778899aabbccddeeff","index":%s,"members":%s,"query":%s,"segments":[%s]}'
    write("query", "start", start % (1, 2, '{"Links":{"url":["http://a.test/","https://a.test/"]}}', '"a-00000.warc.gz"'))
    write("query", "start-elsewhere", start % (0, 1, '{"PageRank":{"url":null,"top":20,"is_normalized":false}}', '"../a","/etc/passwd","a/b",".",""'))
    write("query", "start-many", start % (255, 257, '{"Overlap":{"urls":[["http://a.test"],[]],"is_listed":true}}', ""))
    write("query", "start-search", start % (0, 1, '{"Search":{"text":"a\\ud83d\\udd77","ignore_case":true,"is_regex":false,"limit":5}}', ""))
    write("query", "started", '{"address":"localhost:7","threads":2}')
    write("query", "run", '{"addresses":["localhost:7","[::1]:8"],"threads":2}')
    write("query", "answer", '{"Ok":{"rounds":3,"ranked":[{"rank":0.15000000000000002,"url":"http://a.test/"}]}}')
    write("query", "no-answer", '{"Ok":null}')
    write("query", "lost", '{"Err":{"Lost":"another member was lost"}}')


def cookies():
    write("cookies", "plain", "a=1\nb=2; Path=/a\nc=3; Domain=example.com; Max-Age=60; Secure; HttpOnly; SameSite=Lax\n")
    write("cookies", "replaced", "a=1; Domain=example.com\na=2; Secure\na=3; Domain=.example.com\na=; Max-Age=0\n")
    write("cookies", "prefixes", "__Host-a=1; Secure; Path=/\n__Host-b=1; Domain=example.com\n=__Secure-c=1\n__Secure-d=1; Secure\n")
    write("cookies", "refused", "a=1; Domain=com\na=1; Domain=other.test\n\x01=1\n=\na=1; SameSite=None\n")
    write("cookies", "dates", "a=1; Expires=Wed, 21-Oct-26 07:28:00 GMT\nb=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT\nc=1; expires=21 oct 2026 7:8:9\n")
    write("cookies", "netscape", "# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t1800000000\tid\t1\n#HttpOnly_www.example.com\tFALSE\t/x\tFALSE\t0\ts\t\n")
    cookie = '{"name":"a","value":"1","domain":".example.com","path":"/","expires":%s,"httpOnly":true,"secure":true,"sameSite":"None"}'
    write("cookies", "playwright", '{"cookies":[%s,%s],"origins":[]}' % (cookie % "1800000000.5", cookie % "-1"))
    write("cookies", "extension", '[{"domain":"www.example.com","hostOnly":true,"expirationDate":1e300,"name":"","value":"b","sameSite":"no_restriction"}]')


def main_texts():
    text = "The spider sits in the middle of its web, and waits there for what the wind may bring it."
    page = lambda content: f"<html lang=en><head><title>Spiders</title></head><body><nav><a href=/>Home</a></nav><main><h1>Spiders</h1><p>{text}</p>{content}<p>{text}</p></main><footer>Copyright</footer>"
    for name, content in [
        ("list", "<ul><li>one<ol start=7><li>two</ol><li>three</ul><dl><dt>term<dd>meaning<div><dt>other<dd>more</div></dl>"),
        ("table", "<table><tr><th>a<th colspan=2>b<tr><td rowspan=2>c<td>d<td>e|f<tr><td>g<td>h</table>"),
        ("code", "<div class=highlight-rust><pre><span>let x = 1;</span>\n\n```\n</pre></div><p>and <code>`x`</code>"),
        ("notes", "<p>early<sup><a href=#n id=r>1</a></sup><ol><li id=n>a book <a href=#r>back</a></ol><math display=block><annotation encoding=application/x-tex>a^2</annotation></math>"),
        ("inline", "<p><b>bold<i>both</b>soft</i> <a href=x><b>link</b></a><del>gone</del><q>said</q><br>_a_ *b* [c] &lt;d><img src=e alt=f>"),
        ("said", "<script type=application/ld+json>{\"@graph\":[{\"@type\":\"Article\",\"author\":{\"name\":\"A\"},\"datePublished\":\"2026-01-02\"}]}</script><span itemprop=author>B</span><time datetime=2026-01-03>"),
        ("quote", "<blockquote><p>quoted<blockquote><ul><li>deep</ul></blockquote></blockquote><hr><h2>Heading</h2>"),
    ]:
        write("maintext", name, "http://a.test/docs/\n" + page(content))
    write("maintext", "empty", "\n")


def documents():
    relations = lambda *all: "<r>" + "".join(f'<Relationship Id="{i}" Type="x/{kind}" Target="{target}"/>' for i, kind, target in all) + "</r>"
    core = '<p xmlns:dc="x"><dc:title>Of  spiders</dc:title><dc:creator>Ana &amp; Bo</dc:creator><dc:creator>Cy</dc:creator></p>'
    def document(name, kind, parts):
        write("documents", name, kind + "\n" + "\n".join(f"--- {part}\n{content}" for part, content in parts.items()))
    document("word", "word", {
        "_rels/.rels": relations(("r", "officeDocument", "word/document.xml")),
        "word/document.xml": '<w:d xmlns:w="w"><w:p><w:r><w:t>one &#x263a; &lt;</w:t><w:tab/><w:noBreakHyphen/></w:r></w:p>'
            '<w:r><w:vanish/><w:t>hidden</w:t></w:r><w:tr><w:t><![CDATA[two]]></w:t></w:tr><w:delText>gone</w:delText></w:d>',
        "word/_rels/document.xml.rels": relations(("f", "footnotes", "footnotes.xml"), ("e", "endnotes", "/word/none.xml")),
        "word/footnotes.xml": "<w:n><w:p><w:t>note</w:t></w:p></w:n>",
        "docProps/core.xml": core})
    document("slides", "slides", {
        "ppt/presentation.xml": '<p><p:sldId r:id="b"/><p:sldId r:id="a"/><p:sldId r:id="lost"/></p>',
        "ppt/_rels/presentation.xml.rels": relations(("a", "slide", "slides/1.xml"), ("b", "slide", "../ppt/./slides/2%2exml")),
        "ppt/slides/1.xml": "<a:p><a:t>first</a:t><a:br/><a:t>line</a:t></a:p>",
        "ppt/slides/2.xml": "<a:p><a:t>second</a:t></a:p><Fallback><a:t>twice</a:t></Fallback>",
        "ppt/slides/_rels/1.xml.rels": relations(("n", "notesSlide", "../notes/n.xml")),
        "ppt/notes/n.xml": "<a:p><a:t>what to say"})
    document("text", "open", {
        "content.xml": '<?xml version="1.0" encoding="UTF-8"?><o><text:h>Webs</text:h><text:p>hold<text:s/>well<text:note-body>'
            '<text:p>note</text:p></text:note-body><text:line-break/></text:p><annotation><text:p>no</text:p></annotation></o>',
        "meta.xml": "<m><initial-creator>Di</initial-creator><title/></m>"})
    document("book", "epub", {
        "META-INF/container.xml": '<c><rootfile full-path="in/p.opf"/></c>',
        "META-INF/encryption.xml": '<e><CipherReference URI="in/b.xhtml"/></e>',
        "in/p.opf": '<p><item id="1" href="a%20.xhtml"/><item id="2" href="b.xhtml"/><itemref idref="1"/><itemref idref="2"/><itemref idref="1"/></p>',
        "in/a .xhtml": "<html><head><title>t</title></head><body><h1>One</h1><p>a<br/>b&nbsp;c</p><pre> x\n  y</pre><table><tr><td>1</td><td>2</td></tr></table></body></html>",
        "in/b.xhtml": "<html>secret</html>"})
    write("documents", "nothing", "word\n")


urls()
queries()
robots_files()
pages()
pages_of_links()
sitemaps()
requisites()
cookies()
main_texts()
documents()
warcs()
answers()
payloads()
stores()
