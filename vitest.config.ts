import { defineConfig } from 'vitest/config';
import { COMMON, FIRST_JOURNEYS, filesOf, firstContracts, projectsOf } from './test/suites.ts';

/** Tests that every change runs: `npm test`. The other suites have configurations of their own. */
export default defineConfig({
  // Some tests wait, so that two workers leave a processor idle.
  test: {
    ...COMMON,
    maxWorkers: 3,
    projects: projectsOf([...filesOf(['unit', 'dialogs']), ...firstContracts(), ...FIRST_JOURNEYS]),
  },
});
