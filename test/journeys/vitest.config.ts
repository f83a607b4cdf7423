import { defineConfig } from 'vitest/config';
import { COMMON, FIRST_JOURNEYS, filesOf, projectsOf } from '../suites.ts';

/** The product as a program, from outside, beyond the journeys of `npm test`: `npm run test:journeys`. */
export default defineConfig({
  test: { ...COMMON, projects: projectsOf(filesOf(['journeys']).filter((file) => !FIRST_JOURNEYS.includes(file))) },
});
