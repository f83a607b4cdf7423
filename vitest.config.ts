import { defineConfig } from 'vitest/config';
import { COMMON, projectsOf } from './test/suites.ts';

/** Tests that need only this repository. Suites that need Debian's packages have configurations of their own. */
export default defineConfig({
  test: { ...COMMON, projects: projectsOf(['unit', 'dialogs', 'contract', 'journeys']) },
});
