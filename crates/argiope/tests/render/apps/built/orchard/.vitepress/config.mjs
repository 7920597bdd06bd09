export default {
  title: 'Orchard',
  themeConfig: {
    nav: [{ text: 'Pears', link: '/kinds/pears' }],
    sidebar: [{ text: 'Trees', items: ['Apples', 'Cherries', 'Medlars', 'Quinces'].map((text) => ({ text, link: `/${text.toLowerCase()}` })) }],
  },
};
