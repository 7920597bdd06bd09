export default {
  title: 'Shipyard',
  url: 'http://app.test',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  trailingSlash: false,
  themeConfig: { navbar: { title: 'Shipyard', items: [{ to: '/blog', label: 'Log' }] } },
  presets: [
    [
      'classic',
      {
        docs: { routeBasePath: '/' },
        blog: { showReadingTime: false, onUntruncatedBlogPosts: 'ignore', feedOptions: { type: null } },
        sitemap: false,
      },
    ],
  ],
};
