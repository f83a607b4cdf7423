import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifyDomain } from '../../../mail/store/address/domain.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { dayChart } from '../../../src/portal/chart.ts';
import { EMPTY_FORM } from '../../../src/portal/forms.ts';
import { domainReports } from '../../../src/portal/pages/domain-reports.ts';
import type { Visit } from '../../../src/portal/visit.ts';
import { html } from '../../../src/portal/html.ts';
import { type Calls, calls } from '../../support/calls.ts';

let box: Calls;
beforeEach(async () => (box = await calls()));
afterEach(() => box[Symbol.asyncDispose]());

test('a chart has one bar a day, in proportion, and no style or script', () => {
  const days = [
    { day: '2026-01-30', total: 10, passed: 4 },
    { day: '2026-01-31', total: 5, passed: 5 },
  ];
  const { text } = dayChart('Messages "by" day', days, '2026-01-31', 2);
  expect(text).toContain('<title>2026-01-30: 4 passed, 6 failed</title>');
  expect(text).toContain('<rect class="good" x="0" y="72" width="256" height="48"/>');
  expect(text).toContain('<rect class="fails" x="0" y="0" width="256" height="72"/>');
  expect(text).toContain('aria-label="Messages &quot;by&quot; day"');
  expect(text).not.toMatch(/style=|<script/);
});

test('the page of a domain without reports says so; with one it has a chart, its sources and sentences', async () => {
  const owner = await box.organization('Shop');
  const added = await box.done<{ domain: { id: string } }>(owner, addEmailDomain, { domain: 'shop.example' });
  const id = Number(added.domain.id.slice(4));
  await box.world.store.write(verifyDomain, { id });
  const operations = new Map(CATALOGUE.map((one) => [one.name, one]));
  const visit = {
    context: box.world,
    caller: owner,
    operations,
    base: '/o/org_1',
    visitor: { secret: 'x' },
  };
  const show = async (language = 'en') => {
    const request = { headers: { 'accept-language': language } };
    const shown = await domainReports.show({ ...visit, request } as unknown as Visit, {
      params: { id: added.domain.id },
      query: {},
      form: EMPTY_FORM,
    });
    return html`${shown}`.text;
  };
  const empty = await show();
  expect(empty).toContain('No reports yet');
  expect(empty).toContain('Change MTA-STS to testing');
  const today = Math.floor(box.world.clock() / 86_400_000);
  await box.run(
    `INSERT INTO dmarc_sum (domain_id, day, trusted, source, header_from, spf, dkim, disposition, override, spf_domain,
       dkim_domain, messages) VALUES (?, ?, 1, '203.0.113.9', 'shop.example', 0, 0, 'none', '', '', '', 2310)`,
    id,
    today,
  );
  const full = await show();
  expect(full).toContain('<svg class="chart"');
  expect(full).toContain('<code>203.0.113.9</code>');
  expect(full).toContain('Mail from 203.0.113.9 (2,310 messages) fails SPF and DKIM');
  const german = await show('de');
  expect(german).toContain('0 bestanden, 2310 fehlgeschlagen');
  expect(german).toMatch(/<span lang="en">Mail from 203\.0\.113\.9 /);
});
