export default { output: 'export', generateBuildId: () => 'ferries' };
