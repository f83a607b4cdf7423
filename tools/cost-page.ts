import { writeFileSync } from 'node:fs';
import { costPage } from '../test/support/costs/page.ts';

/** Writes docs/cost.md from the list of functions that a stranger's text reaches. */
writeFileSync(new URL('../docs/cost.md', import.meta.url), costPage());
