import { expect, test } from 'vitest';
import { Garden, type Spec } from '../support/mail-garden.ts';
import { type JmapFixture, createJmapFixture, jmapFixtureOn } from '../support/jmap-fixture.ts';
import { snippetTermsOf } from '../../mail/jmap/email-query/email-snippets.ts';
import { highlightPart } from '../../mail/message/highlight.ts';
import { readTerms } from '../../mail/message/search-terms.ts';
import { costRatio } from '../support/cost.ts';
import { testAccount } from '../support/store.ts';

const SPEC = { subject: 's', from: 'a@box.test', to: 'b@box.test', body: 'b', sentAt: 1e12, receivedAt: 1e12 };

async function snippet(spec: Partial<Spec>, filter: unknown): Promise<{ subject: unknown; preview: unknown }> {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  await garden.append({ ...SPEC, ...spec }, world.inbox);
  const [id] = (await garden.all()).map((one) => one.id);
  const { list, notFound } = await world.call('SearchSnippet/get', { filter, emailIds: [id] });
  expect(notFound).toBeNull();
  const [one] = list as { emailId: string; subject: unknown; preview: unknown }[];
  expect(one?.emailId).toBe(id);
  return { subject: one?.subject, preview: one?.preview };
}

test('words are marked in subject and body, and HTML of theirs is escaped', async () => {
  const mail = { subject: 'Invoice <b>7</b> & more', body: 'See the invoice:\r\n\r\n<script>INVOICE</script> & bye' };
  expect(await snippet(mail, { text: 'invoice' })).toEqual({
    subject: '<mark>Invoice</mark> &lt;b&gt;7&lt;/b&gt; &amp; more',
    preview: 'See the <mark>invoice</mark>: &lt;script&gt;<mark>INVOICE</mark>&lt;/script&gt; &amp; bye',
  });
});

test('each condition marks what it looks at, and NOT marks nothing', async () => {
  const mail = { subject: 'apple pear', body: 'apple pear' };
  expect(await snippet(mail, { subject: 'apple' })).toEqual({ subject: '<mark>apple</mark> pear', preview: null });
  expect(await snippet(mail, { body: 'pear' })).toEqual({ subject: null, preview: 'apple <mark>pear</mark>' });
  expect(await snippet(mail, { from: 'apple', text: '"apple pear"' })).toEqual({
    subject: '<mark>apple pear</mark>',
    preview: '<mark>apple pear</mark>',
  });
  const conditions = [{ operator: 'NOT', conditions: [{ text: 'pear' }] }, { text: 'apple' }];
  expect(await snippet(mail, { operator: 'AND', conditions })).toMatchObject({ preview: '<mark>apple</mark> pear' });
  expect(await snippet(mail, { text: 'plum' })).toEqual({ subject: null, preview: null });
  expect(await snippet(mail, null)).toEqual({ subject: null, preview: null });
});

test('what is written without blanks is marked by the character', async () => {
  const mail = { subject: '東京都で会議', body: 'ITGC部署方案です' };
  expect(await snippet(mail, { operator: 'OR', conditions: [{ text: '京都' }, { text: '部署方案' }] })).toEqual({
    subject: '東<mark>京都</mark>で会議',
    preview: 'ITGC<mark>部署方案</mark>です',
  });
});

test('a preview is a part of at most 255 octets around the first hit, whole to the last character', async () => {
  const long = `${'wörd '.repeat(200)}hit &&&& ${'字'.repeat(300)}`;
  const { preview } = await snippet({ body: long }, { body: 'hit' });
  expect(preview).toMatch(/^wörd .*<mark>hit<\/mark> &amp;&amp;&amp;&amp; 字+$/);
  expect(Buffer.byteLength(preview as string)).toBeLessThanOrEqual(255);
  expect(Buffer.byteLength(preview as string)).toBeGreaterThan(240);
  const whole = await snippet({ body: '字'.repeat(300) }, { body: '字'.repeat(150) });
  expect(whole.preview).toMatch(/^<mark>字+<\/mark>$/);
  expect(Buffer.byteLength(whole.preview as string)).toBeLessThanOrEqual(255);
});

test('names and texts of what is attached are found', async () => {
  const mail = { attached: { name: 'summer.csv', text: 'fig;date' } };
  expect((await snippet(mail, { body: 'fig' })).preview).toBe('summer.csv <mark>fig</mark>;date');
});

test('emails of others, hidden and unknown ones are not found, all alike', async () => {
  await using world = await createJmapFixture();
  const other = await testAccount(world.box.store, 'other');
  const theirs: JmapFixture = jmapFixtureOn(world.box, { ...other, address: 'other@box.test' });
  const garden = await Garden.plant(world);
  for (let i = 0; i < 2; i++) await garden.append(SPEC, world.inbox);
  const ids = (await garden.all()).map((one) => one.id);
  await garden.flag(world.inbox, 1, 'add', ['\\deleted']);
  const queried = { filter: { text: 'b' }, emailIds: [...ids, 'm999', 'no-email'] };
  expect(await world.call('SearchSnippet/get', queried)).toMatchObject({ notFound: [ids[1], 'm999', 'no-email'] });
  expect(await theirs.call('SearchSnippet/get', queried)).toMatchObject({ list: [], notFound: queried.emailIds });
  const many = Array.from({ length: 501 }, (_, i) => `m${i + 1}`);
  expect(await world.refusal('SearchSnippet/get', { filter: null, emailIds: many })).toMatchObject({
    type: 'requestTooLarge',
  });
});

test('a word that is searched for often is looked for once, and only the excerpt is marked', async () => {
  const text = 'a '.repeat(30_000);
  const term = { words: ['a'], prefix: false };
  const mark = (count: number): void => {
    expect(
      highlightPart(
        text,
        Array.from({ length: count }, () => term),
        255,
      ),
    ).toMatch(/^<mark>a<\/mark> /);
  };
  const ratio = await costRatio(
    () => mark(1),
    () => mark(200),
  );
  expect(ratio).toBeLessThan(5);
});

test('the terms of all conditions together have a bound, without repetitions', () => {
  const one = { test: 'text' as const, columns: null, terms: readTerms(Array(199).fill('a').join(' ')) ?? [] };
  expect(snippetTermsOf({ op: 'or', of: Array.from({ length: 20 }, () => one) }).body).toEqual([
    { words: ['a'], prefix: false },
  ]);
  const many = Array.from({ length: 20 }, (_, n) => ({
    ...one,
    terms: readTerms(wordsFrom(n)) ?? [],
  }));
  expect(snippetTermsOf({ op: 'or', of: many }).subject).toHaveLength(200);
});

const wordsFrom = (n: number): string => Array.from({ length: 90 }, (_, i) => `w${n}x${i}`).join(' ');
