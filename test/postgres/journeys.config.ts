import { defineConfig } from 'vitest/config';
import { COMMON, filesOf, projectsOf } from '../suites.ts';
import { JOURNEYS_ON_SQLITE } from './sqlite-only.ts';

process.env['MAILSTEAD_TEST_DATABASE'] = 'postgres';

const journeys = filesOf(['journeys']).filter(
  (file) => !JOURNEYS_ON_SQLITE.has(file.slice('test/journeys/'.length, -'.test.ts'.length)),
);

/** The product as a program on the second engine: `npm run test:journeys:postgres`. Needs PostgreSQL 15 of Debian. */
export default defineConfig({ test: { ...COMMON, projects: projectsOf(journeys) } });
