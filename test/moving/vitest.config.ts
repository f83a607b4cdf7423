import { defineConfig } from 'vitest/config';
import { COMMON, MOVING, projectsOf } from '../suites.ts';

/** The contract of imports, exports, backups and the bucket on SQLite: `npm run test:moving`. */
export default defineConfig({ test: { ...COMMON, projects: projectsOf(MOVING) } });
