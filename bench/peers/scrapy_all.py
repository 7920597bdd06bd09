"""Crawls whole sites with Scrapy, for `cargo xtask bench`: python scrapy_all.py BODIES PAGES REQUESTS SEED...

Bodies are appended to one file; robots.txt is obeyed, no delay; REQUESTS at a time; it stops after about PAGES pages, unless that is 0, and DEPTH_MAX
links from the seeds, if there is such a variable. The last line of the output is the
number of pages: answers with status 200 and type text/html.
"""

import os
import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor


class All(scrapy.Spider):
    """All pages of the seeds' hosts."""

    name = "all"

    def __init__(self, bodies, seeds):
        super().__init__()
        self.start_urls = seeds
        hosts = {urlsplit(seed).netloc for seed in seeds}
        # Only `allow_domains` knows ports; the links are unique to Scrapy's own filter of duplicates.
        self.links = LinkExtractor(allow_domains=hosts, tags=("a", "area", "frame", "iframe"), attrs=("href", "src"), unique=True)
        self.bodies = open(bodies, "wb")
        self.pages = 0

    def parse(self, response):
        """Keeps a page, and follows its links."""
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        self.bodies.write(response.body)
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)

    def closed(self, _reason):
        """Says how many pages there were."""
        self.bodies.close()
        print(self.pages)


def main():
    """Crawls, and prints the number of pages."""
    bodies, pages, requests, *seeds = sys.argv[1:]
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS": int(requests),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(requests),
            "AUTOTHROTTLE_ENABLED": False,
            "COOKIES_ENABLED": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
            "CLOSESPIDER_PAGECOUNT": int(pages),
            "DEPTH_LIMIT": int(os.environ.get("DEPTH_MAX", "0")),
        }
    )
    process.crawl(All, bodies=bodies, seeds=seeds)
    process.start()


main()
