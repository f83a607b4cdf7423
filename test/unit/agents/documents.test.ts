import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PRESET_POLICIES, PRESETS } from '../../../mail/agents/policy/presets.ts';
import { MAX_PER_TOKEN, MAX_PENDING_PROPOSALS } from '../../../src/agents/proposal-commands.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';

const page = readFileSync(new URL('../../../docs/agent-policies.md', import.meta.url), 'utf8');

test('the page about policies has every preset, and every operation that is only proposed', () => {
  const rows = [...page.matchAll(/^\| `([\w-]+)` \|/gm)].map((row) => row[1]);
  expect(rows).toEqual([...PRESETS]);
  const ruling = CATALOGUE.filter((one) => one.rule !== undefined).map((one) => one.name);
  const [, list = ''] = /as in every preset\):\n\n(.*)\n/.exec(page) ?? [];
  expect([...list.matchAll(/`(\w+)`/g)].map((one) => one[1] ?? '').toSorted()).toEqual(ruling.toSorted());
  const { newRecipientsPerHour, newRecipientsPerDay, newRecipientsPerWeek } =
    PRESET_POLICIES['trusted-internal'].budgets;
  expect(page).toContain(
    `${newRecipientsPerHour} new addresses an hour, ${newRecipientsPerDay} a day, ${newRecipientsPerWeek} a week`,
  );
  expect(page).toContain(`A token has at most ${MAX_PER_TOKEN} pending, an organization ${MAX_PENDING_PROPOSALS}`);
});
