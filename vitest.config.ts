import { defineConfig } from 'vitest/config';
import { COMMON, FIRST_JOURNEYS, filesOf, projectsOf } from './test/suites.ts';

/** Tests that every change runs: `npm test`. The other suites have configurations of their own. */
export default defineConfig({
  test: { ...COMMON, projects: projectsOf([...filesOf(['unit', 'dialogs', 'contract']), ...FIRST_JOURNEYS]) },
});
