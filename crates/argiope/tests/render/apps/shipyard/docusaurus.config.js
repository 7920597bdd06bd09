export default {
  title: 'Shipyard',
  url: 'http://app.test',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  trailingSlash: false,
  themeConfig: { navbar: { title: 'Shipyard', items: [{ to: '/blog', label: 'Log' }] } },
  themes: ['classic'],
  plugins: [
    ['content-docs', { routeBasePath: '/' }],
    ['content-blog', { showReadingTime: false, onUntruncatedBlogPosts: 'ignore', feedOptions: { type: null } }],
  ],
};
