import { afterAll, expect } from 'vitest';
import { wrongReports } from './policy-violations.ts';

// No page, and no message that a page shows, may ask for what its policy forbids: a file of tests fails with the first report.
afterAll(() => expect(wrongReports()).toEqual([]));
