// There are no images, so an empty package stands for `sharp`, which makes them smaller (package.json).
export default {
  output: 'export',
  distDir: 'package',
  generateBuildId: () => 'ferries',
  // Packages of others may lie in the directories above.
  outputFileTracingRoot: process.cwd(),
};
