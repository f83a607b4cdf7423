import { defineConfig } from 'vitest/config';
import { COMMON, filesOf, projectsOf } from '../suites.ts';

/** Tables of every operation, parser or encoding by every hostile input, models, and what costs seconds of CPU for each test: `npm run test:matrix`. */
export default defineConfig({
  test: { ...COMMON, projects: projectsOf(filesOf(['matrix', 'attacks'])) },
});
