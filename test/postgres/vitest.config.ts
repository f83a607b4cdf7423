import { defineConfig } from 'vitest/config';
import { COMMON, filesOf, projectsOf } from '../suites.ts';
import { SQLITE_ONLY } from './sqlite-only.ts';

process.env['MAILSTEAD_TEST_DATABASE'] = 'postgres';

const files = filesOf(['contract']).filter(
  (file) => !SQLITE_ONLY.has(file.slice('test/contract/'.length, -'.test.ts'.length)),
);

/** The second engine: `npm run test:postgres`. Needs PostgreSQL 15 of Debian. */
export default defineConfig({ test: { ...COMMON, projects: projectsOf(files) } });
