import { defineConfig } from 'vitest/config';
import { COMMON, filesOf, projectsOf } from '../suites.ts';
import { SQLITE_ONLY } from './sqlite-only.ts';

process.env['MAILSTEAD_TEST_DATABASE'] = 'postgres';
// A statement takes a round trip there, so that models take fewer steps than on SQLite.
process.env['MODEL_STEPS'] ??= '5000';

/** Random operations against models of IMAP and of what agents have read; that of JMAP is in the contract. */
const MODELS = ['test/matrix/imap/model.test.ts', 'test/fuzz/taint-model.test.ts'];

const contracts = filesOf(['contract']).filter(
  (file) => !SQLITE_ONLY.has(file.slice('test/contract/'.length, -'.test.ts'.length)),
);

/** The second engine: `npm run test:postgres`. Needs PostgreSQL 15 of Debian. */
export default defineConfig({ test: { ...COMMON, projects: projectsOf([...contracts, ...MODELS]) } });
